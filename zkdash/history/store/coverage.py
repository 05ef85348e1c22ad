"""Which transactions were read, as stretches without a gap."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from zkdash.history.store.delta import Table

_COUNTER: Final = (1 << 32) - 1


class Stretch(NamedTuple):
    """Every transaction from `first` to `last` was read."""

    first: int
    last: int


def stretches(table: Table) -> list[Stretch]:
    """What the table `coverage` of a cluster says, in order, neighbours joined."""
    from zkdash.history.store import files  # noqa: PLC0415 - pages import this module, and seldom ask the past

    intervals: list[tuple[int, int]] = []
    for columns in files.each(table, columns=("zxid_from", "zxid_upto")):
        intervals += zip(columns["zxid_from"].to_pylist(), columns["zxid_upto"].to_pylist(), strict=True)
    return joined(intervals)


def joined(intervals: Iterable[tuple[int, int]]) -> list[Stretch]:
    made: list[Stretch] = []
    for first, last in sorted(intervals):
        if made and follows(made[-1].last, first):
            made[-1] = Stretch(made[-1].first, max(made[-1].last, last))
        else:
            made.append(Stretch(first, last))
    return made


def follows(reached: int, first: int) -> bool:
    """Whether nothing lies between. The first of a later epoch follows the last of the one before."""
    return first <= reached + 1 or (first >> 32 > reached >> 32 and first & _COUNTER <= 1)
