"""Two replicas of a partition held against each other, entry by entry, by their heads alone.

A follower appends what it fetched as it is: entries that both replicas hold have the same offsets, checksums
and leader epochs (kafka.server.ReplicaFetcherThread). Compaction is each broker's own, so that below what was
cleaned nothing is compared; nor below a replica's start, nor behind its end, which is lag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from zkdash.formats.kafkalog import frames
from zkdash.formats.kafkalog.frames import Source
from zkdash.formats.problems import Problem


class ReplicaSegment(NamedTuple):
    """A segment of a replica by its first offset; `open` gives its bytes as long as they are needed."""

    base_offset: int
    open: Callable[[], AbstractContextManager[Source]]


class Difference(NamedTuple):
    """Where two replicas differ first, in how many entries, and how: of the first and of the second."""

    offset: int
    entries: int
    first: str
    second: str


class _Entry(NamedTuple):
    """An entry by its offset field, which no checksum covers: the first of a batch, else the last."""

    offset: int
    magic: int
    crc: int
    leader_epoch: int
    is_valid: bool


def difference(
    first: Sequence[ReplicaSegment], second: Sequence[ReplicaSegment], start: int, end: int
) -> Difference | None:
    """How the entries from offset `start` up to `end` (without it) differ; None where they are the same.

    Segments need not begin at the same offsets. Memory: two entries' heads and the pieces they were read
    from. Raises OSError.
    """
    left, right = _entries(first, start, end), _entries(second, start, end)
    earliest: Difference | None = None
    mine, other = next(left, None), next(right, None)
    while mine is not None or other is not None:
        offset = min(entry.offset for entry in (mine, other) if entry is not None)
        here = mine if mine is not None and mine.offset == offset else None
        there = other if other is not None and other.offset == offset else None
        if (words := _differ(here, there)) is not None:
            entries = earliest.entries if earliest else 0
            earliest = (earliest or Difference(offset, 0, *words))._replace(entries=entries + 1)
        mine = next(left, None) if here is not None else mine
        other = next(right, None) if there is not None else other
    return earliest


def _differ(mine: _Entry | None, other: _Entry | None) -> tuple[str, str] | None:
    """How two entries of the same offset differ, in words of each."""
    if mine is None or other is None:
        return ("holds an entry" if mine else "holds none", "holds an entry" if other else "holds none")
    if not mine.is_valid or not other.is_valid:
        broken, whole = "holds an entry whose checksum does not hold", "holds it whole"
        return (whole if mine.is_valid else broken, whole if other.is_valid else broken)
    if mine.magic != other.magic:
        return f"holds format v{mine.magic}", f"holds format v{other.magic}"
    if mine.leader_epoch != other.leader_epoch:
        return f"has leader epoch {mine.leader_epoch}", f"has leader epoch {other.leader_epoch}"
    if mine.crc != other.crc:
        return f"has checksum {mine.crc:#010x}", f"has checksum {other.crc:#010x}"
    return None


def _entries(segments: Sequence[ReplicaSegment], start: int, end: int) -> Iterator[_Entry]:
    """The entries from an offset on and before another; of what cannot be framed there are none."""
    following = [each.base_offset for each in segments[1:]]
    for number, segment in enumerate(segments):
        if number < len(following) and following[number] <= start:
            continue
        if segment.base_offset >= end:
            return
        with segment.open() as source:
            for frame in frames.walk(source):
                if isinstance(frame, Problem):
                    break
                if start <= frame.offset < end:
                    head = frames.head(frame)
                    crc, epoch = (head.crc, head.leader_epoch) if head else (-1, -1)
                    yield _Entry(frame.offset, frame.magic, crc, epoch, frame.is_valid)
