"""The records of a segment as Arrow record batches.

Schema (`SCHEMA`), one row a record in the file's order: offset int64; timestamp int64 (epoch ms, null before
v1) and append_time bool (whether the broker set it); key, value binary; headers list of {name string, value
binary}; sequence int32; of the entry that carries it: position, size int64 (bytes in the file), magic int8,
codec string, crc int64; and of a batch of v2, null otherwise: leader_epoch int32, producer_id int64,
producer_epoch int16, transactional bool, control bool. An entry that compaction emptied has no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa

from zkdash.formats.kafkalog.entries import Entry, Record
from zkdash.formats.problems import Problem

_HEADER: Final = pa.struct([pa.field("name", pa.string()), pa.field("value", pa.binary())])
SCHEMA: Final = pa.schema(
    {
        "offset": pa.int64(),
        "timestamp": pa.int64(),
        "append_time": pa.bool_(),
        "key": pa.binary(),
        "value": pa.binary(),
        "headers": pa.list_(_HEADER),
        "sequence": pa.int32(),
        "position": pa.int64(),
        "size": pa.int64(),
        "magic": pa.int8(),
        "codec": pa.string(),
        "crc": pa.int64(),
        "leader_epoch": pa.int32(),
        "producer_id": pa.int64(),
        "producer_epoch": pa.int16(),
        "transactional": pa.bool_(),
        "control": pa.bool_(),
    }
)
ROWS: Final = 20_000
BYTES: Final = 32 << 20


class Piece(NamedTuple):
    """A batch of SCHEMA, the problems among its bytes, and where the last entry that ends in it ends.

    `end` is the file's, where a later read goes on; it is −1 where the piece holds no end of an entry.
    """

    batch: pa.RecordBatch
    problems: list[Problem]
    end: int


def pieces(items: Iterable[Entry | Problem], *, limit: int = ROWS) -> Iterator[Piece]:
    """What `segment.decode` or `oldest.decode` found, in pieces of `limit` rows at most, at least one.

    A header counts as a row, and of keys and values a piece holds about BYTES at most.
    """
    rows: list[tuple[Any, ...]] = []
    problems: list[Problem] = []
    end = -1
    room, weight = limit, BYTES
    for each in items:
        if isinstance(each, Problem):
            problems.append(each)
            continue
        for record in each.records:
            if room <= 0 or weight <= 0:
                yield _piece(rows, problems, end)
                rows, problems, end = [], [], -1
                room, weight = limit, BYTES
            rows.append(_row(each, record))
            room -= 1 + len(record.headers)
            weight -= len(record.key or b"") + len(record.value or b"")
        end = each.position + each.size
    yield _piece(rows, problems, end)


def _piece(rows: list[tuple[Any, ...]], problems: list[Problem], end: int) -> Piece:
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return Piece(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA), problems, end)


def _row(entry: Entry, record: Record) -> tuple[Any, ...]:
    by = entry.producer
    headers = [{"name": name, "value": value} for name, value in record.headers]
    return (
        record.offset,
        record.timestamp,
        entry.append_time,
        record.key,
        record.value,
        headers,
        record.sequence,
        entry.position,
        entry.size,
        entry.magic,
        entry.codec,
        entry.crc,
        *((by.leader_epoch, by.id, by.epoch, by.is_transactional, by.is_control) if by else (None,) * 5),
    )
