"""A segment of Kafka 0.8 or later: entries of v0, v1 and v2, also in one file, told apart by their magic.

Source: org.apache.kafka.common.record.FileLogInputStream, kafka.log.LogSegment.recover.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from zkdash.formats.kafkalog import batches, messages
from zkdash.formats.kafkalog.entries import Entry
from zkdash.formats.problems import Problem

_HEAD: Final = struct.Struct("!qi4xb")  # offset, size, (leader epoch or crc), magic
_OVERHEAD: Final = 12


class _Frame(NamedTuple):
    position: int
    end: int
    magic: int
    is_valid: bool


def decode(data: bytes, *, base: int = 0) -> Iterator[Entry | Problem]:
    """The entries of a segment in its order, and problems where they are.

    `data` are the file's bytes from byte `base` on, which begins an entry; positions are the file's. An
    entry with a wrong checksum is told and passed over; after lost framing nothing more is read. Offsets
    that do not rise, or are not those of the messages in an entry, and leaders' epochs that fall are told,
    and the entry is read all the same: no checksum covers them.
    """
    last: int | None = None
    epoch = -1
    for frame in _frames(data, base):
        if isinstance(frame, Problem):
            yield frame
            continue
        if not frame.is_valid:
            yield Problem(base + frame.position, "the checksum of an entry does not hold: it is left out")
            continue
        try:
            entry = (batches if frame.magic == 2 else messages).read(data, frame.position)
        except ValueError as error:
            yield Problem(base + frame.position, f"an entry in no known form: {error}")
            continue
        if last is not None and entry.base_offset <= last:
            reason = f"offset {entry.base_offset} follows offset {last}"
            yield Problem(base + frame.position, reason)
        if entry.magic == 0 and entry.records[-1].offset != entry.last_offset:
            reason = f"offset {entry.records[-1].offset} ends an entry of offset {entry.last_offset}"
            yield Problem(base + frame.position, reason)
        last = entry.last_offset
        if entry.producer and entry.producer.leader_epoch < epoch:
            reason = f"leader epoch {entry.producer.leader_epoch} follows leader epoch {epoch}"
            yield Problem(base + frame.position, reason)
        epoch = entry.producer.leader_epoch if entry.producer else epoch
        yield entry._replace(position=base + frame.position)


def whole_bytes(data: bytes) -> int:
    """How many bytes a broker keeps when it recovers this segment after an unclean stop: it cuts the rest."""
    kept = 0
    for frame in _frames(data, 0):
        if isinstance(frame, Problem) or not frame.is_valid:
            return kept
        kept = frame.end
    return kept


def _frames(data: bytes, base: int) -> Iterator[_Frame | Problem]:
    position = 0
    while position < len(data):
        if len(data) - position < _HEAD.size:
            yield _torn(base + position)
            return
        _, size, magic = _HEAD.unpack_from(data, position)
        end = position + _OVERHEAD + size
        if size < messages.LEAST:
            yield _nonsense(data, position, base, size)
            return
        if end > len(data):
            yield _torn(base + position)
            return
        if magic not in (0, 1, 2):
            yield Problem(base + position, f"an entry of the unknown format {magic}: it is left out")
        else:
            check = batches.is_valid if magic == 2 else messages.is_valid
            yield _Frame(position, end, magic, check(data, position, end))
        position = end


def _torn(offset: int) -> Problem:
    return Problem(offset, "the segment ends within an entry", torn=True)


def _nonsense(data: bytes, position: int, base: int, size: int) -> Problem:
    """Files may be allocated ahead (`log.preallocate`): zeros to the end are no damage."""
    if data.count(0, position) == len(data) - position:
        return Problem(base + position, "zeros follow the last entry", torn=True)
    return Problem(base + position, f"an entry of {size} bytes: what follows cannot be read")
