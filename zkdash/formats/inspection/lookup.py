"""Where an offset or a time is, found as a broker finds it: by the index, then entry by entry.

Source: kafka.log.LogSegment (translateOffset, findOffsetByTimestamp), OffsetIndex.lookup, TimeIndex.lookup.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from zkdash.formats.kafkalog import frames
from zkdash.formats.kafkalog.entries import Entry, Record
from zkdash.formats.kafkalog.frames import Frame, Head, Source
from zkdash.formats.kafkalog.indexes import OffsetPosition, TimestampOffset
from zkdash.formats.problems import Problem


class Location(NamedTuple):
    """An entry that was looked for.

    position, size: in bytes, in the segment. offsets: its first and its last. record: the one that was
    meant, of a time always. place: the entry of the index that was gone by, None for the segment's begin;
    `passed` entries were read from there on.
    """

    position: int
    size: int
    first_offset: int
    last_offset: int
    record: Record | None
    place: OffsetPosition | None
    passed: int


class _Read(NamedTuple):
    """An entry that was decoded, after `passed` others."""

    frame: Frame
    entry: Entry
    passed: int

    def location(self, record: Record | None, place: OffsetPosition | None) -> Location:
        entry, frame = self.entry, self.frame
        return Location(
            frame.position, frame.size, entry.base_offset, entry.last_offset, record, place, self.passed
        )


def offset(source: Source, places: Sequence[OffsetPosition], wanted: int) -> Location | Problem | None:
    """The entry that holds `wanted`, or the first one behind it; None where the segment ends before it."""
    place = _floor(places, wanted)
    for read in _entries(source, place, lambda head: head.last_offset >= wanted):
        if isinstance(read, Problem):
            return read
        record = next((each for each in read.entry.records if each.offset >= wanted), None)
        return read.location(record, place)
    return None


def time(
    source: Source, places: Sequence[OffsetPosition], moments: Sequence[TimestampOffset], wanted: int
) -> Location | Problem | None:
    """The first record whose timestamp is `wanted` (epoch ms) or later; None where the segment has none."""
    number = bisect.bisect_right(moments, wanted, key=lambda moment: moment.timestamp) - 1
    place = _floor(places, moments[number].offset) if number >= 0 else None
    for read in _entries(source, place, lambda head: head.max_timestamp >= wanted):
        if isinstance(read, Problem):
            return read
        for record in read.entry.records:
            if record.timestamp is not None and record.timestamp >= wanted:
                return read.location(record, place)
    return None


def position(source: Source, base_offset: int, wanted: int) -> Frame | Problem | None:
    """The message of 0.7 at an offset, a position in the partition; a problem where none begins."""
    for frame in frames.walk_07(source, base_offset):
        if isinstance(frame, Problem) or frame.offset == wanted:
            return frame
        if frame.offset > wanted:
            reason = f"no message begins at offset {wanted}: the next one begins at {frame.offset}"
            return Problem(wanted - base_offset, reason)
    return None


def before(segments: Sequence[tuple[int, int]], end: int, now: int, wanted: int) -> Iterator[int]:
    """The offsets that a broker of 0.7 to 0.10.0 answers to a time, newest first: it knows only when files
    were changed (kafka.log.Log.getOffsetsBefore).

    segments: first offset and time of change (epoch ms) of each. end, now: where the log ends, at which time.
    """
    changes = [*segments, (end, now)]
    return (offset for offset, changed in reversed(changes) if changed <= wanted)


def _entries(
    source: Source, place: OffsetPosition | None, may_hold: Callable[[Head], bool]
) -> Iterator[_Read | Problem]:
    """The entries from a place on whose heads may hold what is looked for; a problem ends it."""
    for passed, frame in enumerate(frames.walk(source, place.position if place else 0)):
        if isinstance(frame, Problem):
            yield frame
            return
        head = frames.head(frame)
        if head is None or not may_hold(head):
            continue
        entry = frames.entry(frame)
        if isinstance(entry, Problem):
            yield entry
            return
        yield _Read(frame, entry, passed)


def _floor(places: Sequence[OffsetPosition], wanted: int) -> OffsetPosition | None:
    number = bisect.bisect_right(places, wanted, key=lambda place: place.offset) - 1
    return places[number] if number >= 0 else None
