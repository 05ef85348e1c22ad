"""What a broker knew of producers at an offset (`.snapshot`, 0.11 and later).

The number in the file's name is the offset up to which the log was read. Source: ProducerStateManager
(KIP-98): version int16, CRC-32C of all that follows it, entries of 46 bytes behind their number.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import google_crc32c

from zkdash.formats.problems import Problem

_HEAD: Final = struct.Struct("!hIi")  # version, crc, entries
_CRC_FROM: Final = 6
_ENTRY: Final = struct.Struct("!qhiqiqiq")
_VERSION: Final = 1


class ProducerState(NamedTuple):
    """A producer: its last batch (−1 where it wrote only markers), and where its open transaction begins.

    timestamp: epoch ms. offset_delta: offsets of the last batch before its last one.
    """

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    transaction_offset: int

    @property
    def first_sequence(self) -> int:
        """Of the last batch; sequences go round after 2³¹ − 1."""
        if self.last_sequence < 0:
            return -1
        return (self.last_sequence - self.offset_delta) & 0x7FFF_FFFF


def read(data: bytes) -> list[ProducerState] | Problem:
    """The producers of a snapshot. One that is wrong anywhere is not used, as in Kafka."""
    if len(data) < _HEAD.size:
        return Problem(0, "the snapshot ends within its head", torn=True)
    version, crc, count = _HEAD.unpack_from(data)
    if version != _VERSION:
        return Problem(0, f"a snapshot of the unknown version {version}")
    if google_crc32c.value(data[_CRC_FROM:]) != crc:
        return Problem(2, "the checksum of the snapshot does not hold: a broker deletes it and reads the log")
    if len(data) != _HEAD.size + count * _ENTRY.size:
        return Problem(_CRC_FROM, f"{count} producers told, where {len(data) - _HEAD.size} bytes follow")
    return [ProducerState(*fields) for fields in _ENTRY.iter_unpack(data[_HEAD.size :])]
