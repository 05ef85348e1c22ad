"""Which transactions were read: exactly, and as stretches without a gap.

What comes late fills a hole, so that whether a transaction was read is asked of the exact intervals alone. No
number tells where an epoch ended: its last transactions may be missing though the next one was read from its
first on.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from zkdash.history.store.delta import Table, TableVersion

# A position: what is not after it was deleted for its age, or was never to be read. It is not read again.
FLOOR: Final = "floor"
LEAST: Final = -(1 << 63)  # before any transaction
_COUNTER: Final = (1 << 32) - 1


class Stretch(NamedTuple):
    """Every transaction from `first` to `last` was read."""

    first: int
    last: int


def stretches(table: Table) -> list[Stretch]:
    """What the table `coverage` of a cluster says, in order, neighbours joined."""
    return joined(intervals(table))


def intervals(table: Table, version: TableVersion | None = None) -> list[Stretch]:
    """The same exactly: those of two epochs are never joined."""
    from zkdash.history.store import files  # noqa: PLC0415 - pages import this module, and seldom ask the past

    read: list[tuple[int, int]] = []
    for columns in files.each(table, version, columns=("zxid_from", "zxid_upto")):
        read += zip(columns["zxid_from"].to_pylist(), columns["zxid_upto"].to_pylist(), strict=True)
    return exact(read)


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


def exact(intervals: Iterable[tuple[int, int]]) -> list[Stretch]:
    """The same transactions in order, each once, as few intervals as there can be."""
    made: list[Stretch] = []
    for first, last in sorted(intervals):
        if made and first <= made[-1].last + 1:
            made[-1] = Stretch(made[-1].first, max(made[-1].last, last))
        else:
            made.append(Stretch(first, last))
    return made


def without(intervals: Iterable[tuple[int, int]], taken: Sequence[tuple[int, int]]) -> list[Stretch]:
    """The transactions of `intervals` that are not `taken`, which is exact, as `exact` makes it."""
    left: list[Stretch] = []
    for first, last in exact(intervals):
        begin = first
        for number in range(_at(taken, first), len(taken)):
            if taken[number][0] > last:
                break
            if taken[number][0] > begin:
                left.append(Stretch(begin, taken[number][0] - 1))
            begin = max(begin, taken[number][1] + 1)
        if begin <= last:
            left.append(Stretch(begin, last))
    return left


def holds(intervals: Sequence[tuple[int, int]], first: int, last: int) -> bool:
    """Whether all from `first` to `last` is in what is exact; also where that is none."""
    number = _at(intervals, first)
    return first > last or (
        number < len(intervals) and intervals[number][0] <= first and last <= intervals[number][1]
    )


def shares(
    read: Mapping[int, Iterable[tuple[int, int]]], loaded: Sequence[tuple[int, int]]
) -> dict[int, list[Stretch]]:
    """What of several logs is new, each transaction of one log alone: the first of them, by number.

    `read` are the transactions that each log holds, `loaded` those that are in the tables.
    """
    taken: Sequence[tuple[int, int]] = loaded
    shares: dict[int, list[Stretch]] = {}
    for log in sorted(read):
        shares[log] = without(read[log], taken)
        taken = exact([*taken, *shares[log]])
    return shares


def _at(intervals: Sequence[tuple[int, int]], zxid: int) -> int:
    """The first interval that does not end before a transaction."""
    return bisect.bisect_left(intervals, zxid, key=lambda interval: interval[1])
