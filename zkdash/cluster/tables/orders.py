"""The orders that a cluster's tables were asked for, carried from one revision to the next by what changed.

A sort looks at every row once. What follows looks at those that are others since: persistent mappings hold
the same object for a name of which nothing changed. Which rows a page then shows costs what it shows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from zkdash.cluster.model import differing
from zkdash.cluster.tables.query import in_order

MOST: Final = 8  # that are kept: some 25 bytes a row each
# Above these a new sort is cheaper than so many insertions.
_FEW: Final = 32
_SHARE: Final = 16

Sources = Sequence[Mapping[str, object]]


class _Order(msgspec.Struct, frozen=True):
    """Names in order, the value of each, and what these were taken from."""

    sources: tuple[Mapping[str, object], ...]
    values: Mapping[str, Any]
    names: Sequence[str]


class Orders:
    """The last orders of one cluster, from any thread: whoever comes too late makes one again."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Order] = {}

    def of(
        self,
        key: Hashable,
        values: Callable[[Sequence[str]], Iterable[Any]],
        *,
        falls: bool,
        names: Sources,
        beside: Sources = (),
    ) -> Sequence[str]:
        """Every name that one of `names` holds, by its value, equal ones by name; those of None last.

        `values` gives what names sort by, and reads nothing of them but what `names` and `beside` hold.
        `key` stands for it. The sequence is kept: read it only.
        """
        sources = (*names, *beside)
        before = self._kept.pop((key, falls), None)
        order = None if before is None else _carried(before, sources, len(names), values, falls=falls)
        if order is None:
            every = sorted(set().union(*names))
            value_by_name = dict(zip(every, values(every), strict=True))
            order = _Order(sources, value_by_name, in_order(every, value_by_name.__getitem__, falls=falls))
        self._kept[key, falls] = order
        for oldest in list(self._kept)[:-MOST]:
            self._kept.pop(oldest, None)
        return order.names


def _carried(
    before: _Order,
    sources: tuple[Mapping[str, object], ...],
    naming: int,
    values: Callable[[Sequence[str]], Iterable[Any]],
    *,
    falls: bool,
) -> _Order | None:
    """The order with what changed since put where it belongs; None where that is too much."""
    changed: set[str] = set().union(*map(differing.names, before.sources, sources))
    if len(changed) > max(_FEW, len(before.names) // _SHARE):
        return None
    there = [name for name in changed if any(name in source for source in sources[:naming])]
    fresh = dict(zip(there, values(there), strict=True))
    moved = {name for name in changed if not _is_same(before.values, fresh, name)}
    if not moved:
        return _Order(sources, before.values, before.names)
    value_by_name = {name: value for name, value in before.values.items() if name not in moved}
    ordered = [name for name in before.names if name not in moved]
    for name in moved & fresh.keys():
        value_by_name[name] = fresh[name]
        ordered.insert(_place(ordered, value_by_name, name, falls=falls), name)
    return _Order(sources, value_by_name, ordered)


def _is_same(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    """Whether a name is in both with one value, or in neither."""
    if name in before and name in after:
        return bool(before[name] == after[name])
    return name not in before and name not in after


def _place(ordered: Sequence[str], values: Mapping[str, Any], name: str, *, falls: bool) -> int:
    """Where a name is to be inserted."""
    value = values[name]

    def is_behind(other: str) -> bool:
        theirs = values[other]
        if theirs is None or value is None:
            return theirs is None and (value is not None or other > name)
        return other > name if theirs == value else (theirs > value) != falls

    return bisect_left(ordered, True, key=is_behind)
