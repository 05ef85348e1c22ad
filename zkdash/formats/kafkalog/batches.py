"""Batches of v2 (0.11 and later): a head of 61 bytes, then the records, compressed as one.

Source: org.apache.kafka.common.record.{DefaultRecordBatch, DefaultRecord}, KIP-98, KIP-534 (delete horizon).
"""

from __future__ import annotations

import struct
from typing import Final

import google_crc32c

from zkdash.formats.kafkalog import codecs
from zkdash.formats.kafkalog.entries import CODECS, Entry, Producer, Record

HEAD: Final = struct.Struct("!qiibIhiqqqhii")
_CRC_FROM: Final = 21  # the attributes; what is before them a broker may change
_NO_TIMESTAMP: Final = -1


def is_valid(data: bytes, position: int, end: int) -> bool:
    """Whether the CRC-32C of the batch at `data[position:end]` holds."""
    if end - position < HEAD.size:
        return False
    crc: int = HEAD.unpack_from(data, position)[4]
    return bool(google_crc32c.value(data[position + _CRC_FROM : end]) == crc)


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
    reader = _Reader(body if codec == "none" or not count else codecs.decompress(codec, body))
    records = tuple(
        reader.record(base, base_timestamp, max_timestamp if append_time else None, base_sequence)
        for _ in range(min(count, len(reader.data)))
    )
    if len(records) != count or (count and reader.position != len(reader.data)):
        raise ValueError("a batch that does not hold as many records as it says")
    if any(not base <= record.offset <= base + last_delta for record in records):
        raise ValueError("a batch with records outside of its offsets")
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


class _Reader:
    """Records of v2: zig-zag varints, lengths of −1 for null."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def record(self, base: int, base_timestamp: int, appended: int | None, base_sequence: int) -> Record:
        """One record; `appended` is the timestamp that the broker set instead of the producer's."""
        length = self._varint()
        end = self.position + length
        if length < 0 or end > len(self.data):
            raise ValueError("a record that does not fit into its batch")
        self.position += 1  # attributes, which nobody uses
        timestamp = base_timestamp + self._varint()
        delta = self._varint()
        key, value = self._bytes(), self._bytes()
        headers = tuple((self._name(), self._bytes()) for _ in range(self._count()))
        if self.position != end:
            raise ValueError("a record that is not as long as it says")
        sequence = -1 if base_sequence < 0 else (base_sequence + delta) & 0x7FFF_FFFF
        return Record(
            base + delta, timestamp if appended is None else appended, key, value, headers, sequence
        )

    def _count(self) -> int:
        count = self._varint()
        if not 0 <= count <= len(self.data):
            raise ValueError("a record with a nonsensical number of headers")
        return count

    def _name(self) -> str:
        name = self._bytes()
        if name is None:
            raise ValueError("a header without a name")
        return name.decode(errors="replace")

    def _bytes(self) -> bytes | None:
        length = self._varint()
        if length == -1:
            return None
        start = self.position
        if not 0 <= length <= len(self.data) - start:
            raise ValueError("a key, value or header that does not fit into its batch")
        self.position += length
        return self.data[start : self.position]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            if self.position >= len(self.data) or shift > 63:
                raise ValueError("a number that does not end")
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7
