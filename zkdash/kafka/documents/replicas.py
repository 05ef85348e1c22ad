"""Lists of broker ids, shared: a large cluster has hundreds of thousands of them and few different ones."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.kafka.documents.document import INT_MAX, kind_of

_MOST = 1 << 16
_NONE: Mapping[int, tuple[int, ...]] = {}
_shared: dict[tuple[int, ...], tuple[int, ...]] = {}


def share(ids: tuple[int, ...]) -> tuple[int, ...]:
    """The one tuple that stands for these ids. (Bounded: forgets all when there are too many.)"""
    if len(_shared) > _MOST:
        _shared.clear()
    return _shared.setdefault(ids, ids)


def share_all(lists: Mapping[int, tuple[int, ...]]) -> Mapping[int, tuple[int, ...]]:
    """As `share`, of the lists of many partitions, sorted by partition."""
    if not lists:
        return _NONE
    if len(_shared) > _MOST:
        _shared.clear()
    shared = _shared.setdefault
    return {partition: shared(ids, ids) for partition, ids in sorted(lists.items())}


def parse_ids(value: object, name: str, reasons: list[str]) -> tuple[int, ...] | None:
    """A JSON list of broker ids; `name` names the field in the sentences added to `reasons`.

    A negative id is kept and noted: the list is still what the cluster acts on.
    """
    if not isinstance(value, list):
        reasons.append(f"{name} holds {kind_of(value)} where a list of numbers belongs")
        return None
    for item in value:
        if type(item) is not int or abs(item) > INT_MAX:
            actual = "a number out of range" if type(item) is int else kind_of(item)
            reasons.append(f"{name} holds {actual} where numbers belong")
            return None
    if value and min(value) < 0:
        reasons.append(f"{name} holds {min(value)}, which is no broker id")
    return share(tuple(value))
