"""Batches of v2 (0.11 and later): a head of 61 bytes, then the records, compressed as one.

Source: org.apache.kafka.common.record.{DefaultRecordBatch, DefaultRecord}, KIP-98, KIP-534 (delete horizon).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

import google_crc32c

from zkdash.formats import bounds
from zkdash.formats.kafkalog import codecs
from zkdash.formats.kafkalog.entries import CODECS, Entry, Producer, Record, held

HEAD: Final = struct.Struct("!qiibIhiqqqhii")
CRC_FROM: Final = 21  # the attributes; what is before them a broker may change
_NO_TIMESTAMP: Final = -1


def is_valid(data: bytes, position: int, end: int) -> bool:
    """Whether the CRC-32C of the batch at `data[position:end]` holds."""
    if end - position < HEAD.size:
        return False
    crc: int = HEAD.unpack_from(data, position)[4]
    return bool(google_crc32c.value(data[position + CRC_FROM : end]) == crc)


def read(data: bytes, position: int) -> Entry:
    """The batch at `position`, whose checksum was found right. Raises ValueError."""
    (
        base,
        length,
        leader_epoch,
        magic,
        crc,
        attributes,
        last_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    ) = HEAD.unpack_from(data, position)
    codec = CODECS[attributes & 7] if attributes & 7 < len(CODECS) else ""
    if not codec:
        raise ValueError("a batch compressed in an unknown way")
    if last_delta < 0 or count < 0:
        raise ValueError("a batch with a negative count or last offset")
    if count > bounds.RECORDS:
        raise ValueError(f"a batch of {count} records, where {bounds.RECORDS} are read")
    end = position + 12 + length
    body = data[position + HEAD.size : end]
    append_time = bool(attributes & 8)
    horizon = base_timestamp if attributes & 0x40 else None
    producer = Producer(
        leader_epoch,
        producer_id,
        producer_epoch,
        base_sequence,
        bool(attributes & 0x10),
        bool(attributes & 0x20),
        horizon,
    )
    plain = body if codec == "none" or not count else codecs.decompress(codec, body)
    shape = _Shape(
        base,
        base + last_delta,
        base_timestamp,
        max_timestamp if append_time else None,
        base_sequence,
        count,
    )
    records = held(lambda: _decoded(plain, shape))
    newest = None if max_timestamp == _NO_TIMESTAMP else max_timestamp
    return Entry(
        position,
        end - position,
        magic,
        base,
        base + last_delta,
        codec,
        crc,
        append_time,
        newest,
        records,
        producer,
    )


class _Shape(NamedTuple):
    """What the head tells of the records; `appended` is the timestamp that the broker set for all of them."""

    first: int
    last: int
    base_timestamp: int
    appended: int | None
    base_sequence: int
    total: int


def _decoded(data: bytes, shape: _Shape) -> Iterator[Record]:
    """The records one by one. Raises ValueError."""
    position = headers = 0
    try:
        for _ in range(shape.total):
            record, position = _record(data, position, shape)
            headers += len(record.headers)
            if headers > bounds.RECORDS:
                raise ValueError(f"a batch with more headers than {bounds.RECORDS}")
            yield record
    except IndexError:
        raise ValueError("a batch that does not hold as many records as it says") from None
    if shape.total and position != len(data):
        raise ValueError("a batch that does not hold as many records as it says")


def _record(data: bytes, position: int, shape: _Shape) -> tuple[Record, int]:
    """The record at `position`, and where the next one is. Raises ValueError, and IndexError at the end."""
    length, position = _varint(data, position)
    end = position + length
    if length < 0 or end > len(data):
        raise ValueError("a record that does not fit into its batch")
    timestamp, position = _varint(data, position + 1)  # behind attributes, which nobody uses
    delta, position = _varint(data, position)
    key, position = _bytes(data, position)
    value, position = _bytes(data, position)
    count, position = _varint(data, position)
    headers: tuple[tuple[str, bytes | None], ...] = ()
    if count:
        headers, position = _headers(data, position, count)
    if position != end:
        raise ValueError("a record that is not as long as it says")
    offset = shape.first + delta
    if not shape.first <= offset <= shape.last:
        raise ValueError("a batch with records outside of its offsets")
    at = shape.base_timestamp + timestamp if shape.appended is None else shape.appended
    sequence = -1 if shape.base_sequence < 0 else (shape.base_sequence + delta) & 0x7FFF_FFFF
    return Record(offset, at, key, value, headers, sequence), position


def _headers(data: bytes, position: int, count: int) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    if not 0 <= count <= len(data):
        raise ValueError("a record with a nonsensical number of headers")
    if count > bounds.HEADERS:
        raise ValueError(f"a record with {count} headers, where {bounds.HEADERS} are read")
    headers = []
    for _ in range(count):
        name, position = _bytes(data, position)
        value, position = _bytes(data, position)
        if name is None:
            raise ValueError("a header without a name")
        headers.append((name.decode(errors="replace"), value))
    return tuple(headers), position


def _bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    """Bytes behind their length, −1 for null."""
    length, start = _varint(data, position)
    if length == -1:
        return None, start
    end = start + length
    if length < 0 or end > len(data):
        raise ValueError("a key, value or header that does not fit into its batch")
    return data[start:end], end


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A zig-zag varint, and where it ends."""
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    value, shift = byte & 0x7F, 7
    while byte >= 0x80:
        if shift > 63:
            raise ValueError("a number that does not end")
        position += 1
        byte = data[position]
        value |= (byte & 0x7F) << shift
        shift += 7
    return (value >> 1) ^ -(value & 1), position + 1
