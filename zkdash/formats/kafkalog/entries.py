"""What a segment holds: entries, each of which carries one record or many."""

from __future__ import annotations

from typing import Final, NamedTuple

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")


class Record(NamedTuple):
    """One message. `timestamp` is epoch milliseconds, None before v1. `sequence` −1 without a producer id.

    Key and value may be null. In a file of 0.7 the offset is a position of bytes in the partition, and all
    messages of a compressed one have its offset.
    """

    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    sequence: int = -1
    crc: int | None = None


class Producer(NamedTuple):
    """Who wrote a batch of v2, −1 where it is not idempotent; and what the batch is."""

    leader_epoch: int
    id: int
    epoch: int
    base_sequence: int
    is_transactional: bool
    is_control: bool
    delete_horizon_ms: int | None


class Entry(NamedTuple):
    """One entry of a segment: a batch of v2; a message of v0, v1 or 0.7, which may be a wrapper of many.

    position, size: in bytes, in the file. magic: the format's, of 0.7 its own. codec: one of CODECS.
    append_time: True where the broker set the timestamps, None where there are none. max_timestamp: epoch ms.
    """

    position: int
    size: int
    magic: int
    base_offset: int
    last_offset: int
    codec: str
    crc: int
    append_time: bool | None
    max_timestamp: int | None
    records: tuple[Record, ...]
    producer: Producer | None = None


def control_type(record: Record) -> str | None:
    """What a control record says, "abort" or "commit" (KIP-98); None where it is another or none."""
    if record.key is None or len(record.key) < 4:
        return None
    return {0: "abort", 1: "commit"}.get(int.from_bytes(record.key[2:4], "big"))
