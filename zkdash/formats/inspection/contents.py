"""What a segment holds, in a few numbers: each entry's head is read once, and no record is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from zkdash.formats.kafkalog import frames
from zkdash.formats.kafkalog.frames import Frame, Source
from zkdash.formats.problems import Problem

_PLAIN: Final = "none"  # the codec of entries of v0, v1 and 0.7 that are one message each


class Contents(NamedTuple):
    """A segment up to its last whole entry.

    next_offset: the one behind it, of 0.7 a position in the partition. first_ms: the newest timestamp of the
    first entry that has one, by which a broker rolls; last_ms: of all, by which it deletes (kafka.log.
    LogSegment.loadFirstBatchTimestamp, largestTimestamp); None without any. records: markers of transactions
    among them, None where an entry cannot be decoded. leader_epoch: of the last batch, None before v2.
    whole_bytes: where the last whole entry ends. tail: what follows it, None where nothing does; damaged:
    entries whose checksum does not hold.
    """

    next_offset: int
    first_ms: int | None
    last_ms: int | None
    entries: int
    records: int | None
    codecs: tuple[str, ...]
    leader_epoch: int | None
    whole_bytes: int
    tail: Problem | None
    damaged: int


def contents(source: Source, base_offset: int, *, is_oldest: bool = False) -> Contents:
    """Read a segment whose name is `base_offset`. Memory: one entry. Raises OSError as the source does."""
    next_offset, whole, entries, damaged = base_offset, 0, 0, 0
    first_ms: int | None = None
    last_ms: int | None = None
    records: int | None = 0
    leader_epoch: int | None = None
    codecs: set[str] = set()
    tail: Problem | None = None
    for frame in _frames(source, base_offset, is_oldest=is_oldest):
        if isinstance(frame, Problem):
            tail = frame
            break
        entries += 1
        whole = frame.position + frame.size
        head = frames.head(frame)
        if head is None or not frame.is_valid:
            damaged += not frame.is_valid
            records = None  # nobody knows how many it held
            continue
        next_offset = base_offset + whole if is_oldest else max(next_offset, head.last_offset + 1)
        if head.max_timestamp >= 0:
            first_ms = head.max_timestamp if first_ms is None else first_ms
            last_ms = max(last_ms or 0, head.max_timestamp)
        codecs.add(head.codec or "unknown")
        leader_epoch = head.leader_epoch if frame.is_batch else leader_epoch
        count = _records(frame, head)
        records = None if records is None or count is None else records + count
    numbers = next_offset, first_ms, last_ms, entries, records
    return Contents(*numbers, tuple(sorted(codecs)), leader_epoch, whole, tail, damaged)


def _frames(source: Source, base_offset: int, *, is_oldest: bool) -> Iterator[Frame | Problem]:
    return frames.walk_07(source, base_offset) if is_oldest else frames.walk(source)


def _records(frame: Frame, head: frames.Head) -> int | None:
    """How many an entry holds: a batch says it, a wrapper of messages is decoded."""
    if head.record_count >= 0:
        return head.record_count
    if head.codec == _PLAIN:
        return 1
    entry = frames.entry(frame)
    return None if isinstance(entry, Problem) else len(entry.records)
