"""Files of a log in words, line by line as Kafka's own tool prints them, and as JSON.

Segments of 0.8 and later and what stands beside them are told as kafka.tools.DumpLogSegments of 3.9 tells
them, which reads every format; those of 0.7 as 0.7's own, which tells their payload always.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from zkdash.formats.inspection import decoders
from zkdash.formats.inspection.decoders import Decoder
from zkdash.formats.kafkalog import frames, indexes, producer_snapshots
from zkdash.formats.kafkalog.entries import Entry, Record, control_type
from zkdash.formats.kafkalog.frames import Frame, Head
from zkdash.formats.problems import Problem

_KINDS: Final = {None: "NoTimestampType", False: "CreateTime", True: "LogAppendTime"}
_OLDEST_CODECS: Final = {"none": "No", "gzip": "GZIP", "snappy": "Snappy"}
_BOOL: Final = {False: "false", True: "true"}


def text(frame: Frame, decoder: Decoder | None) -> Iterator[str | Problem]:
    """An entry's line, and one for each of its records where there is a `decoder`."""
    head = frames.head(frame)
    if head is None:
        yield Problem(frame.position, f"an entry of {frame.size} bytes has no head that is read")
        return
    if frame.is_oldest:
        yield _oldest(frame, head)
    else:
        yield _entry(frame, head)
    if not frame.is_valid:
        yield _invalid(frame)
        return
    if decoder is None:
        return
    entry = frames.entry(frame)
    if isinstance(entry, Problem):
        yield entry
    elif frame.is_oldest:
        payloads = (decoder(record)[1] for record in entry.records)
        yield from (f"payload:\t{value}" for value in payloads if value is not None)
    else:
        yield from _records(entry, decoder)


def json(frame: Frame, decoder: Decoder | None) -> Iterator[str | Problem]:
    """An entry as one line of JSON, its records in it where there is a `decoder`."""
    head = frames.head(frame)
    if head is None:
        yield Problem(frame.position, f"an entry of {frame.size} bytes has no head that is read")
        return
    row: dict[str, Any] = {"position": frame.position, "size": frame.size, "magic": frame.magic}
    row |= {"valid": frame.is_valid, **head._asdict()}
    entry = frames.entry(frame) if decoder and frame.is_valid else None
    if isinstance(entry, Entry) and decoder:
        row["records"] = [_record_json(entry, record, decoder) for record in entry.records]
    yield msgspec.json.encode(row).decode()
    if not frame.is_valid:
        yield _invalid(frame)
    elif isinstance(entry, Problem):
        yield entry


def _invalid(frame: Frame) -> Problem:
    return Problem(frame.position, "the checksum of an entry does not hold")


def place(entry: indexes.OffsetPosition) -> str:
    """An entry of `.index`."""
    return f"offset: {entry.offset} position: {entry.position}"


def moment(entry: indexes.TimestampOffset) -> str:
    """An entry of `.timeindex`."""
    return f"timestamp: {entry.timestamp} offset: {entry.offset}"


def aborted(entry: indexes.AbortedTxn) -> str:
    """An entry of `.txnindex`."""
    return (
        f"version: 0 producerId: {entry.producer_id} firstOffset: {entry.first_offset}"
        f" lastOffset: {entry.last_offset} lastStableOffset: {entry.last_stable_offset}"
    )


def producer(state: producer_snapshots.ProducerState) -> str:
    """An entry of `.snapshot`."""
    begun = state.transaction_offset if state.transaction_offset >= 0 else None
    line = (
        f"producerId: {state.producer_id} producerEpoch: {state.epoch}"
        f" coordinatorEpoch: {state.coordinator_epoch} currentTxnFirstOffset: {_optional(begun)}"
        f" lastTimestamp: {state.timestamp} "
    )
    if state.last_offset < 0:
        return line
    return line + (
        f"firstSequence: {state.first_sequence} lastSequence: {state.last_sequence}"
        f" lastOffset: {state.last_offset} offsetDelta: {state.offset_delta} timestamp: {state.timestamp}"
    )


def _entry(frame: Frame, head: Head) -> str:
    kind = _KINDS[head.append_time]
    end = (
        f" position: {frame.position} {kind}: {head.max_timestamp} size: {frame.size} magic: {frame.magic}"
        f" compresscodec: {head.codec or 'unknown'} crc: {head.crc} isvalid: {_BOOL[frame.is_valid]}"
    )
    if not frame.is_batch:
        return f"offset: {head.last_offset}{end}"
    return (
        f"baseOffset: {head.base_offset} lastOffset: {head.last_offset} count: {head.record_count}"
        f" baseSequence: {head.base_sequence} lastSequence: {head.last_sequence}"
        f" producerId: {head.producer_id} producerEpoch: {head.producer_epoch}"
        f" partitionLeaderEpoch: {head.leader_epoch} isTransactional: {_BOOL[head.is_transactional]}"
        f" isControl: {_BOOL[head.is_control]} deleteHorizonMs: {_optional(head.delete_horizon_ms)}{end}"
    )


def _oldest(frame: Frame, head: Head) -> str:
    size = frame.size - (10 if frame.magic else 9)
    codec = _OLDEST_CODECS.get(head.codec, "Unknown")
    return (
        f"offset: {frame.offset} isvalid: {_BOOL[frame.is_valid]} payloadsize: {size} magic: {frame.magic}"
        f" compresscodec: {codec}CompressionCodec"
    )


def _records(entry: Entry, decoder: Decoder) -> Iterator[str]:
    kind, by = _KINDS[entry.append_time], entry.producer
    for record in entry.records:
        key, value = record.key, record.value
        line = (
            f"| offset: {record.offset} {kind}: {-1 if record.timestamp is None else record.timestamp}"
            f" keySize: {-1 if key is None else len(key)} valueSize: {-1 if value is None else len(value)}"
        )
        if by is None:
            yield f"{line} isValid: true crc: {record.crc}}}{_contents(record, decoder)}"
            continue
        names = ",".join([name for name, _ in record.headers]) if record.headers else ""
        line += f" sequence: {record.sequence} headerKeys: [{names}]"
        yield line + (_marker(record) if by.is_control else _contents(record, decoder))


def _contents(record: Record, decoder: Decoder) -> str:
    key, value = decoder(record)
    line = "" if key is None else f" key: {key}"
    return line if value is None else f"{line} payload: {value}"


def _marker(record: Record) -> str:
    kind = control_type(record)
    if kind is None or record.value is None or len(record.value) < 6:
        return f" controlType: UNKNOWN({int.from_bytes((record.key or b'')[2:4], 'big')})"
    epoch = int.from_bytes(record.value[2:6], "big", signed=True)
    return f" endTxnMarker: {kind.upper()} coordinatorEpoch: {epoch}"


def _record_json(entry: Entry, record: Record, decoder: Decoder) -> dict[str, Any]:
    row: dict[str, Any] = {"offset": record.offset, "timestamp": record.timestamp}
    if entry.producer and entry.producer.is_control:
        return row | {"control": control_type(record)}
    row |= {"sequence": record.sequence, "key_size": _size(record.key), "value_size": _size(record.value)}
    if decoder is decoders.plain:
        row |= {"key": _legible(record.key), "value": _legible(record.value)}
    elif decoder is not decoders.silent:
        key, value = decoder(record)
        row |= {"key": key, "value": value}
    headers = [[name, _legible(content)] for name, content in record.headers]
    return row | {"headers": headers} if headers else row


def _legible(data: bytes | None) -> object:
    """A text, or where it is none its bytes in hexadecimal."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def _size(data: bytes | None) -> int | None:
    return None if data is None else len(data)


def _optional(value: int | None) -> str:
    """As Java prints an OptionalLong."""
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"
