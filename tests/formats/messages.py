"""Kafka's messages as bytes, made from the description of the format; checksums included."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import cramjam
import google_crc32c

from zkdash.formats import xerial

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def compress(codec: str, data: bytes, *, magic: int = 2) -> bytes:
    """As Kafka compresses: snappy in xerial's framing, lz4 of magic 0 with a wrong checksum (KAFKA-3160)."""
    match codec:
        case "gzip":
            return bytes(cramjam.gzip.compress(data))
        case "snappy":
            block = bytes(cramjam.snappy.compress_raw(data))
            return xerial.MAGIC + struct.pack("!iii", 1, 1, len(block)) + block
        case "lz4":
            return bytes(cramjam.lz4.compress(data)) if magic else _lz4_of_magic_0(data)
        case "zstd":
            return bytes(cramjam.zstd.compress(data))
        case _:
            return data


def _lz4_of_magic_0(data: bytes) -> bytes:
    """Independent blocks of up to 64 KiB behind a header whose checksum is wrong."""
    frame = b"\x04\x22\x4d\x18\x60\x40\x00"
    for at in range(0, len(data), 1 << 16):
        block = bytes(cramjam.lz4.compress_block(data[at : at + (1 << 16)], store_size=False))
        frame += struct.pack("<I", len(block)) + block
    return frame + bytes(4)


def oldest(payload: bytes, *, magic: int = 1, codec: int = 0) -> bytes:
    """A message of 0.7."""
    head = bytes([magic, codec]) if magic else b"\0"
    body = head + struct.pack("!I", zlib.crc32(payload)) + payload
    return struct.pack("!i", len(body)) + body


def message(
    offset: int,
    value: bytes | None,
    *,
    key: bytes | None = None,
    magic: int = 1,
    timestamp: int = 0,
    attributes: int = 0,
) -> bytes:
    """A message of v0 or v1."""
    body = bytes([magic, attributes]) + (struct.pack("!q", timestamp) if magic else b"")
    body += _sized(key) + _sized(value)
    return struct.pack("!qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def wrapper(
    offset: int, inner: bytes, codec: str, *, magic: int = 1, timestamp: int = 0, append_time: bool = False
) -> bytes:
    attributes = CODECS.index(codec) | (8 if append_time else 0)
    value = compress(codec, inner, magic=magic)
    return message(offset, value, magic=magic, timestamp=timestamp, attributes=attributes)


Made = tuple[int, int, bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]]


def batch(
    base: int,
    records: Sequence[Made],
    *,
    codec: str = "none",
    attributes: int = 0,
    timestamp: int = 1000,
    newest: int = 2000,
    producer: tuple[int, int, int] = (-1, -1, -1),
    last_delta: int | None = None,
) -> bytes:
    """A batch of v2; a record is (offset delta, timestamp delta, key, value, headers)."""
    body = compress(codec, b"".join(map(_record, records))) if records else b""
    delta = last_delta if last_delta is not None else records[-1][0]
    head = struct.pack(
        "!hiqqqhii",
        attributes | CODECS.index(codec),
        delta,
        timestamp,
        newest,
        *producer,
        len(records),
    )
    tail = struct.pack("!ib", 5, 2) + struct.pack("!I", google_crc32c.value(head + body)) + head + body
    return struct.pack("!qi", base, len(tail)) + tail


def _record(made: Made) -> bytes:
    delta, time, key, value, headers = made
    body = b"\0" + _varint(time) + _varint(delta) + _field(key) + _field(value) + _varint(len(headers))
    body += b"".join(_field(name.encode()) + _field(content) for name, content in headers)
    return _varint(len(body)) + body


def _field(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def _varint(number: int) -> bytes:
    value = (number << 1) ^ (number >> 63)
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _sized(data: bytes | None) -> bytes:
    return struct.pack("!i", -1) if data is None else struct.pack("!i", len(data)) + data
