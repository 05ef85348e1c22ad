"""The entries of a segment one after the other, read in pieces: memory stays flat however long the file is.

An entry is framed as a broker frames it (org.apache.kafka.common.record.FileLogInputStream; of 0.7
kafka.message.ByteBufferMessageSet), and its checksum is looked at before anything in it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import google_crc32c

from zkdash.formats import bounds
from zkdash.formats.kafkalog import batches, messages, segments_07
from zkdash.formats.kafkalog.entries import CODECS, Entry
from zkdash.formats.problems import Problem

WINDOW: Final = 1 << 20  # bytes that are read at once
HELD: Final = bounds.ENTRY_BYTES  # of an entry; of a larger one only the checksum is read
_HEAD: Final = struct.Struct("!qi4xb")  # offset, size, (leader epoch or crc), magic
_OVERHEAD: Final = 12
_NO_TIMESTAMP: Final = -1


class Source(NamedTuple):
    """A file: `read(position, size)` gives its bytes, fewer where it ends; `size` in bytes, when opened."""

    read: Callable[[int, int], bytes]
    size: int


class Frame(NamedTuple):
    """An entry that is not decoded yet.

    position, size: in bytes, in the file. offset: the entry's first field, of 0.7 its position in the
    partition. magic: signed, as it stands there. data: bytes that hold the entry from `at` on; empty where
    it is larger than HELD.
    """

    position: int
    size: int
    offset: int
    magic: int
    is_valid: bool
    data: bytes
    at: int
    is_oldest: bool = False

    @property
    def is_batch(self) -> bool:
        """Whether a broker takes it for a batch of v2; what it does not know it takes for one too."""
        return self.magic >= 2 and not self.is_oldest


class Head(NamedTuple):
    """What an entry says of itself before it is decompressed.

    base_offset is None of v0 and v1, where only the last of a wrapper's messages is named. max_timestamp:
    epoch ms, −1 where there is none. codec: "" for one that there is not. Fields of v2 are −1 or False
    before it.
    """

    base_offset: int | None
    last_offset: int
    crc: int
    codec: str
    append_time: bool | None
    max_timestamp: int
    record_count: int = -1
    leader_epoch: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    last_sequence: int = -1
    is_transactional: bool = False
    is_control: bool = False
    delete_horizon_ms: int | None = None


def walk(source: Source, start: int = 0) -> Iterator[Frame | Problem]:
    """The entries of a segment of 0.8 or later from byte `start` on, which begins one.

    A wrong checksum is told by `is_valid`. A problem ends it: what follows has lost its framing.
    """
    position = origin = start
    window = b""
    while position < source.size:
        left = source.size - position
        if left <= _HEAD.size:
            yield _torn(position)
            return
        if position - origin + _HEAD.size > len(window):
            window, origin = source.read(position, min(WINDOW, left)), position
            if len(window) < _HEAD.size:
                yield _torn(position)
                return
        offset, size, magic = _HEAD.unpack_from(window, position - origin)
        size += _OVERHEAD
        if size < _OVERHEAD + messages.LEAST:
            yield _nonsense(source, position, size - _OVERHEAD)
            return
        if size > left:
            yield _torn(position)
            return
        if size > HELD:
            is_valid = _checked(source, position, size, is_batch=magic >= 2)
            yield Frame(position, size, offset, magic, is_valid, b"", 0)
        else:
            if position - origin + size > len(window):
                window, origin = source.read(position, min(max(WINDOW, size), left)), position
                if len(window) < size:
                    yield _torn(position)
                    return
            at = position - origin
            is_valid = (batches if magic >= 2 else messages).is_valid(window, at, at + size)
            yield Frame(position, size, offset, magic, is_valid, window, at)
        position += size


def walk_07(source: Source, base: int) -> Iterator[Frame | Problem]:
    """The messages of a segment of 0.7; `base` is the number in the file's name."""
    position = origin = 0
    window = b""
    while position < source.size:
        left = source.size - position
        at = position - origin
        if at + 4 > len(window):
            window, origin, at = source.read(position, min(WINDOW, left)), position, 0
        size = 4 + int.from_bytes(window[at : at + 4], "big", signed=True)
        if at + size > len(window) and size <= min(left, HELD):
            window, origin, at = source.read(position, min(max(WINDOW, size), left)), position, 0
        framed = segments_07.framed(window, at, left)
        if isinstance(framed, Problem):
            yield framed._replace(offset=position)
            return
        yield Frame(position, framed.size, base + position, framed.magic, framed.is_valid, window, at, True)
        position += framed.size


def entry(frame: Frame) -> Entry | Problem:
    """What a frame holds, wholly decoded; its position is the file's."""
    if not frame.is_valid:
        return Problem(frame.position, "the checksum of an entry does not hold: it is left out")
    if not frame.data:
        return Problem(frame.position, f"an entry of {frame.size} bytes, where {HELD} are read")
    if frame.is_oldest:
        return _oldest(frame)
    if not 0 <= frame.magic <= 2:
        return Problem(frame.position, f"an entry of the unknown format {frame.magic}: it is left out")
    try:
        decoded: Entry = (batches if frame.magic == 2 else messages).read(frame.data, frame.at)
    except ValueError as error:
        return Problem(frame.position, f"an entry in no known form: {error}")
    return decoded._replace(position=frame.position)


def _oldest(frame: Frame) -> Entry | Problem:
    data = frame.data[frame.at : frame.at + frame.size]
    decoded = next(segments_07.decode(data, base=frame.offset))
    if isinstance(decoded, Problem):
        return decoded._replace(offset=frame.position)
    return decoded._replace(position=frame.position)


def head(frame: Frame) -> Head | None:
    """What a frame tells of itself; None where it is too short, or too large to be held."""
    if frame.is_batch:
        return _batch_head(frame) if frame.data and frame.size >= batches.HEAD.size else None
    if not frame.data:
        return None
    if frame.is_oldest:
        attributes = frame.data[frame.at + 5] if frame.magic else 0
        crc = int.from_bytes(frame.data[frame.at + 5 + frame.magic :][:4], "big")
        return Head(frame.offset, frame.offset, crc, _codec(attributes & 3), None, _NO_TIMESTAMP)
    offset, _, crc, magic, attributes = messages.HEAD.unpack_from(frame.data, frame.at)
    timestamp = _NO_TIMESTAMP
    if magic == 1 and frame.size >= messages.HEAD.size + 8:
        timestamp = int.from_bytes(frame.data[frame.at + 18 : frame.at + 26], "big", signed=True)
    append_time = bool(attributes & 8) if magic else None
    return Head(None, offset, crc, _codec(attributes & 7), append_time, timestamp)


def _batch_head(frame: Frame) -> Head:
    (
        base,
        _,
        leader_epoch,
        _,
        crc,
        attributes,
        last_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        sequence,
        count,
    ) = batches.HEAD.unpack_from(frame.data, frame.at)
    return Head(
        base,
        base + last_delta,
        crc,
        _codec(attributes & 7),
        bool(attributes & 8),
        max_timestamp,
        count,
        leader_epoch,
        producer_id,
        producer_epoch,
        sequence,
        -1 if sequence < 0 else (sequence + last_delta) & 0x7FFF_FFFF,
        bool(attributes & 0x10),
        bool(attributes & 0x20),
        base_timestamp if attributes & 0x40 else None,
    )


def _codec(number: int) -> str:
    return CODECS[number] if number < len(CODECS) else ""


def _checked(source: Source, position: int, size: int, *, is_batch: bool) -> bool:
    """Whether the checksum holds of an entry that is not held."""
    stored = int.from_bytes(source.read(position + (17 if is_batch else 12), 4), "big")
    computed = 0
    at, end = position + (batches if is_batch else messages).CRC_FROM, position + size
    while at < end:
        piece = source.read(at, min(WINDOW, end - at))
        if not piece:
            return False
        computed = google_crc32c.extend(computed, piece) if is_batch else zlib.crc32(piece, computed)
        at += len(piece)
    return computed == stored


def _torn(position: int) -> Problem:
    return Problem(position, "the segment ends within an entry", torn=True)


def _nonsense(source: Source, position: int, size: int) -> Problem:
    """Files may be allocated ahead (`log.preallocate`): zeros to the end are no damage."""
    at = position
    while at < source.size:
        piece = source.read(at, min(WINDOW, source.size - at))
        if not piece or piece.count(0) < len(piece):
            return Problem(position, f"an entry of {size} bytes: what follows cannot be read")
        at += len(piece)
    return Problem(position, "zeros follow the last entry", torn=True)
