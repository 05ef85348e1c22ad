"""Messages of v0 (0.8 and 0.9) and v1 (0.10): one an entry, or many compressed in a wrapper.

Entry: offset int64, size int32, crc32 of all that follows it, magic int8, attributes int8, in v1 timestamp
int64, then key and value, each with an int32 length, −1 for null. Source:
org.apache.kafka.common.record.{LegacyRecord, AbstractLegacyRecordBatch}, KIP-31, KIP-32.
"""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from zkdash.formats import bounds
from zkdash.formats.kafkalog import codecs
from zkdash.formats.kafkalog.entries import CODECS, Entry, Many, Record

HEAD: Final = struct.Struct("!qiIbb")  # offset, size, crc, magic, attributes
CRC_FROM: Final = 16  # the magic
OVERHEAD: Final = 12  # offset and size, which `size` does not count
LEAST: Final = 14  # the size of a message of v0 with neither key nor value
_LONG = struct.Struct("!q")
_INT = struct.Struct("!i")


class _Message(NamedTuple):
    offset: int
    crc: int
    magic: int
    attributes: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    end: int


def is_valid(data: bytes, position: int, end: int) -> bool:
    """Whether the checksum of the message at `data[position:end]` holds."""
    crc: int = HEAD.unpack_from(data, position)[2]
    return zlib.crc32(memoryview(data)[position + CRC_FROM : end]) == crc


def read(data: bytes, position: int) -> Entry:
    """The message at `position`, whose checksum was found right. Raises ValueError."""
    outer = _message(data, position)
    codec = CODECS[outer.attributes & 7] if outer.attributes & 7 < 4 else ""
    if not codec:
        raise ValueError("a message compressed in an unknown way")
    append_time = bool(outer.attributes & 8) if outer.magic else None
    records: Sequence[Record]
    if codec == "none":
        records = (Record(outer.offset, outer.timestamp, outer.key, outer.value, crc=outer.crc),)
    else:
        records = _unwrapped(outer, codec)
    return Entry(
        position,
        outer.end - position,
        outer.magic,
        records[0].offset,
        outer.offset,
        codec,
        outer.crc,
        append_time,
        max((record.timestamp for record in records if record.timestamp is not None), default=None),
        records,
    )


def _unwrapped(outer: _Message, codec: str) -> Sequence[Record]:
    """The messages within. Offsets of v0 are absolute, those of v1 relative: they end at the wrapper's."""
    if outer.value is None:
        raise ValueError("a compressed message without a value")
    plain = codecs.decompress(codec, outer.value)
    reading = _inner(plain, outer)
    first = list(itertools.islice(reading, bounds.KEPT))
    if not first:
        raise ValueError("a compressed message that holds none")
    last, count = first[-1], len(first)
    for last in reading:  # noqa: B007 - it is wanted behind the loop
        count += 1
    shift = outer.offset - last.offset if outer.magic else 0
    is_appended = outer.magic and outer.attributes & 8

    def record(message: _Message) -> Record:
        return Record(
            message.offset + shift,
            outer.timestamp if is_appended else message.timestamp,
            message.key,
            message.value,
            crc=message.crc,
        )

    if count == len(first):
        return tuple(map(record, first))
    return Many(lambda: map(record, _inner(plain, outer)), count, record(last))


def _inner(data: bytes, outer: _Message) -> Iterator[_Message]:
    """The messages of a compressed one, none of which is compressed in turn. Raises ValueError."""
    position = count = 0
    while position < len(data):
        message = _message(data, position)
        if not is_valid(data, position, message.end):
            raise ValueError("the checksum of a message in a compressed one does not hold")
        if message.magic != outer.magic or message.attributes & 7:
            raise ValueError("a compressed message that holds messages of another kind")
        count += 1
        if count > bounds.RECORDS:
            raise ValueError(f"a compressed message with more than {bounds.RECORDS} messages")
        yield message
        position = message.end


def _message(data: bytes, position: int) -> _Message:
    if len(data) - position < OVERHEAD + LEAST:
        raise ValueError("a message that ends too early")
    offset, size, crc, magic, attributes = HEAD.unpack_from(data, position)
    end = position + OVERHEAD + size
    if size < LEAST or end > len(data) or magic not in (0, 1):
        raise ValueError("a message that does not fit")
    cursor = position + HEAD.size
    timestamp = None
    if magic:
        if end - cursor < 8 + 4 + 4:
            raise ValueError("a message that ends too early")
        (timestamp,) = _LONG.unpack_from(data, cursor)
        cursor += 8
    key, cursor = _bytes(data, cursor, end)
    value, cursor = _bytes(data, cursor, end)
    if cursor != end:
        raise ValueError("a message with bytes left behind its value")
    return _Message(offset, crc, magic, attributes, timestamp, key, value, end)


def _bytes(data: bytes, cursor: int, end: int) -> tuple[bytes | None, int]:
    if end - cursor < 4:
        raise ValueError("a message that ends too early")
    (length,) = _INT.unpack_from(data, cursor)
    start = cursor + 4
    if length == -1:
        return None, start
    if not 0 <= length <= end - start:
        raise ValueError("a key or value that does not fit into its message")
    return data[start : start + length], start + length
