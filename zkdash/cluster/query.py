"""What a table is asked for, and one page of the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from zkdash.cluster.tone import Tone

R = TypeVar("R")

SIZES = (50, 200, 1000)
STATUSES = tuple(tone.value for tone in Tone)

Keys = Mapping[str, Callable[[R], Any]]


class Query(msgspec.Struct, frozen=True):
    """What a list page was asked for. What is not allowed falls back to the default.

    `sort` is a key of the table's, with "-" before it to fall; "" is the default order. `page` counts from 1.
    """

    q: str = ""
    status: tuple[str, ...] = ()
    sort: str = ""
    page: int = 1
    size: int = SIZES[0]

    @property
    def ticked(self) -> frozenset[str]:
        """The statuses asked for; all where none is."""
        return frozenset(self.status).intersection(STATUSES) or frozenset(STATUSES)

    def order(self, allowed: Iterable[str]) -> tuple[str | None, bool]:
        """(key to sort by, whether it falls); (None, False) for the default order."""
        key = self.sort.removeprefix("-")
        return (key, self.sort.startswith("-")) if key in allowed else (None, False)


class Selection(msgspec.Struct, Generic[R], frozen=True):
    """The rows of one page.

    `total` counts the table's rows, `matched` those that pass the query, `counts` those that pass its text,
    by status (so that each status tick-box can say what it would show). `page` is of `pages`, at least 1.
    """

    rows: tuple[R, ...]
    total: int
    matched: int
    page: int
    pages: int
    counts: Mapping[str, int]


def choose(
    found: Sequence[R], query: Query, keys: Keys[R], tone: Callable[[R], Tone], *, total: int
) -> Selection[R]:
    """The page of rows that already pass the query's text: by status, sorted, cut."""
    tones = Counter(map(tone, found))
    ticked = query.ticked
    if len(ticked) < len(STATUSES):
        found = [one for one in found if tone(one).value in ticked]
    key, falls = query.order(keys)
    if key is not None:
        found = _sorted(found, keys[key], falls=falls)
    page, pages, cut = window(query, len(found))
    counts = {tone.value: tones[tone] for tone in Tone}
    return Selection(tuple(found[cut]), total, len(found), page, pages, counts)


def window(query: Query, matched: int) -> tuple[int, int, slice]:
    """(page, pages, its rows); a page that is not there is the nearest that is."""
    size = query.size if query.size in SIZES else SIZES[0]
    pages = max(1, -(-matched // size))
    page = min(max(query.page, 1), pages)
    return page, pages, slice((page - 1) * size, page * size)


def _sorted(found: Sequence[R], key: Callable[[R], Any], *, falls: bool) -> list[R]:
    """Sorted by a key, equal ones in their order; those without a value last, rising or falling."""
    keyed = [(key(one), one) for one in found]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=falls)
    return [one for _, one in known] + [one for value, one in keyed if value is None]
