"""The indexes beside a segment: by offset, by time, and of aborted transactions; and whether they fit it.

They are allocated ahead, so that zeros follow the last entry. Sources: kafka.log.{OffsetIndex, TimeIndex}
(KIP-33), AbortedTxn (KIP-98).
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkdash.formats.kafkalog.entries import Entry, control_type
from zkdash.formats.problems import Problem

_OFFSET = struct.Struct("!ii")
_TIME = struct.Struct("!qi")
_ABORTED = struct.Struct("!hqqqq")


class OffsetPosition(NamedTuple):
    """An entry of `.index`: the segment's entry that holds the offset is at this byte."""

    offset: int
    position: int


class TimestampOffset(NamedTuple):
    """An entry of `.timeindex`: the newest timestamp up to this offset, in epoch ms, and whose it is."""

    timestamp: int
    offset: int


class AbortedTxn(NamedTuple):
    """An entry of `.txnindex`: an aborted transaction, and the last stable offset when it ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def offset_positions(data: bytes, base_offset: int) -> tuple[list[OffsetPosition], list[Problem]]:
    """The entries of an `.index`; `base_offset` is the number in the file's name."""
    pairs, problems = _entries(data, _OFFSET)
    places = [OffsetPosition(base_offset + relative, position) for relative, position in pairs]
    rising = [(place.offset, place.position) for place in places]
    return places, problems + _falling(rising, _OFFSET.size)


def timestamp_offsets(data: bytes, base_offset: int) -> tuple[list[TimestampOffset], list[Problem]]:
    """The entries of a `.timeindex`; `base_offset` is the number in the file's name."""
    pairs, problems = _entries(data, _TIME)
    moments = [TimestampOffset(timestamp, base_offset + relative) for timestamp, relative in pairs]
    return moments, problems + _falling(moments, _TIME.size)


def aborted(data: bytes) -> tuple[list[AbortedTxn], list[Problem]]:
    """The entries of a `.txnindex`, which is not allocated ahead."""
    problems = _left(data, _ABORTED)
    transactions = []
    for position in range(0, len(data) - _ABORTED.size + 1, _ABORTED.size):
        version, *fields = _ABORTED.unpack_from(data, position)
        if version != 0:
            problems.append(Problem(position, f"an aborted transaction of the unknown version {version}"))
        else:
            transactions.append(AbortedTxn(*fields))
    return transactions, problems


def misplaced(places: Sequence[OffsetPosition], entries: Sequence[Entry]) -> Iterator[Problem]:
    """Places of an index that the segment contradicts; `Problem.offset` is the index's byte."""
    by_position = {entry.position: entry for entry in entries}
    for number, place in enumerate(places):
        entry = by_position.get(place.position)
        if entry is None:
            reason = f"no entry of the segment begins at byte {place.position}"
            yield Problem(number * _OFFSET.size, reason)
        elif not entry.base_offset <= place.offset <= entry.last_offset:
            reason = f"the entry at byte {place.position} does not hold offset {place.offset}"
            yield Problem(number * _OFFSET.size, reason)


def mistimed(moments: Sequence[TimestampOffset], entries: Sequence[Entry]) -> Iterator[Problem]:
    """Moments of a time index that the segment contradicts; `Problem.offset` is the index's byte."""
    lasts = [entry.last_offset for entry in entries]
    for number, moment in enumerate(moments):
        at = bisect.bisect_left(lasts, moment.offset)
        if at == len(entries) or entries[at].base_offset > moment.offset:
            yield Problem(number * _TIME.size, f"no entry of the segment holds offset {moment.offset}")
        elif entries[at].max_timestamp != moment.timestamp:
            reason = f"{moment.timestamp} is not the newest timestamp where offset {moment.offset} is"
            yield Problem(number * _TIME.size, reason)


def unmarked(transactions: Sequence[AbortedTxn], entries: Sequence[Entry]) -> Iterator[Problem]:
    """Aborted transactions without their producer's marker; `Problem.offset` is the index's byte."""
    markers = {
        (entry.producer.id, record.offset)
        for entry in entries
        if entry.producer and entry.producer.is_control
        for record in entry.records
        if control_type(record) == "abort"
    }
    for number, each in enumerate(transactions):
        if (each.producer_id, each.last_offset) not in markers:
            reason = f"producer {each.producer_id} aborted no transaction at offset {each.last_offset}"
            yield Problem(number * _ABORTED.size, reason)


def _entries(data: bytes, shape: struct.Struct) -> tuple[list[tuple[int, ...]], list[Problem]]:
    # an index of 10 MiB may hold three entries: the zeros are not unpacked
    used = -(-len(data.rstrip(b"\0")) // shape.size) * shape.size
    whole = data[: min(used, len(data) - len(data) % shape.size)]
    return list(shape.iter_unpack(whole)), _left(data, shape)


def _left(data: bytes, shape: struct.Struct) -> list[Problem]:
    left = len(data) % shape.size
    if not left:
        return []
    return [Problem(len(data) - left, f"{left} bytes are no whole entry of {shape.size}", torn=True)]


def _falling(pairs: Sequence[tuple[int, int]], size: int) -> list[Problem]:
    """Where an entry does not rise over the one before it, in both of its numbers."""
    return [
        Problem(number * size, "an entry that does not rise over the one before it")
        for number in range(1, len(pairs))
        if pairs[number][0] <= pairs[number - 1][0] or pairs[number][1] <= pairs[number - 1][1]
    ]
