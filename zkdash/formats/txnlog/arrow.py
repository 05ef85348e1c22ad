"""The rows of `plain` as Arrow record batches, many at a time.

A Python loop walks the frames and the parts of multis and checks the checksums; everything else is
gathered by numpy from where the loop says it lies. A transaction that is in any way unusual is given to
`plain`, so that the two agree on what is wrong.

Schema (`SCHEMA`), one row an operation, each column as `rows.Row` tells it: session int64, cxid int32, zxid
int64, time int64 (epoch ms), op int32, type int32, multi bool, failed bool, path string, data binary, version
int32, parent_cversion int32, ephemeral bool, ttl_ms int64, timeout_ms int32, error int32, paths int32, acl
string, digest int64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from zkdash.formats.jute import MalformedError
from zkdash.formats.problems import Problem
from zkdash.formats.redaction import Redaction
from zkdash.formats.txnlog import frames, plain
from zkdash.formats.txnlog.columns import Columns
from zkdash.formats.txnlog.rows import Row
from zkdash.formats.txnlog.walk import Walk, walk

_TYPES: Final = {
    "session": pa.int64(),
    "cxid": pa.int32(),
    "zxid": pa.int64(),
    "time": pa.int64(),
    "op": pa.int32(),
    "type": pa.int32(),
    "multi": pa.bool_(),
    "failed": pa.bool_(),
    "path": pa.string(),
    "data": pa.binary(),
    "version": pa.int32(),
    "parent_cversion": pa.int32(),
    "ephemeral": pa.bool_(),
    "ttl_ms": pa.int64(),
    "timeout_ms": pa.int32(),
    "error": pa.int32(),
    "paths": pa.int32(),
    "acl": pa.string(),
    "digest": pa.int64(),
}
SCHEMA: Final = pa.schema(_TYPES)
ROWS: Final = 20_000


class Piece(NamedTuple):
    """A batch of SCHEMA, the problems among its bytes, and the file's offset of the first byte after them.

    `end` is where a later read goes on: whole transactions only.
    """

    batch: pa.RecordBatch
    problems: list[Problem]
    end: int


def decode(data: bytes, redaction: Redaction, *, base: int = 0, limit: int = ROWS) -> Iterator[Piece]:
    """The rows of a log in pieces of about `limit`, never none.

    `data` are the log's bytes from byte `base` of the file on: 0, or the `end` of an earlier piece.
    """
    position = 0
    if base == 0:
        header = frames.header(data)
        if isinstance(header, Problem):
            yield Piece(pa.RecordBatch.from_pylist([], schema=SCHEMA), [header], 0)
            return
        position = frames.HEADER_SIZE
    while True:
        stretch = walk(data, position, base, limit)
        yield _piece(data, position, base, stretch, redaction)
        if stretch.is_done:
            return
        position = stretch.position


def _piece(data: bytes, first: int, base: int, stretch: Walk, redaction: Redaction) -> Piece:
    columns = Columns(data, stretch)
    batch = _batch(data, first, stretch.position, columns, redaction)
    odd = sorted({*stretch.odd, *_wrong(columns)})
    if odd:
        more, starts, problems = _plainly(data, base, odd, redaction)
        stretch.problems.extend(problems)
        right = ~np.isin(columns.start, [start for start, _ in odd])
        batch = _merge(batch.filter(pa.array(right)), columns.start[right], more, starts)
    return Piece(batch, sorted(stretch.problems), base + stretch.position)


def _wrong(columns: Columns) -> list[tuple[int, int]]:
    wrong = columns.wrong
    return list(zip(columns.start[wrong].tolist(), columns.end[wrong].tolist(), strict=True))


def _plainly(
    data: bytes, base: int, odd: list[tuple[int, int]], redaction: Redaction
) -> tuple[list[Row], list[int], list[Problem]]:
    """The rows of the odd transactions, the start of each one's transaction, and the problems."""
    more: list[Row] = []
    starts: list[int] = []
    problems: list[Problem] = []
    for start, end in odd:
        try:
            made = plain.transaction(data, start, end, redaction)
        except MalformedError as error:
            problems.append(plain.malformed(base + start - 12, error))
            continue
        more += made
        starts += [start] * len(made)
    return more, starts, problems


def _merge(
    batch: pa.RecordBatch, starts: npt.NDArray[np.int64], more: list[Row], places: list[int]
) -> pa.RecordBatch:
    """The batch, whose transactions begin at `starts`, with `more` rows of those that begin at `places`."""
    if not more:
        return batch
    fields = zip(*more, strict=True)
    arrays = [pa.array(field, kind) for field, kind in zip(fields, _TYPES.values(), strict=True)]
    both = pa.concat_batches([batch, pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)])
    order = np.argsort(np.concatenate((starts, np.array(places, np.int64))), kind="stable")
    return both.take(pa.array(order))


def _batch(data: bytes, first: int, last: int, columns: Columns, redaction: Redaction) -> pa.RecordBatch:
    header = columns.header
    path, payload = _texts(data, first, columns)
    path = _utf8(path)
    if any(data.find(mark.encode(), first, last) >= 0 for mark in redaction.marks):
        payload = _redacted(path, payload, redaction)
    made: dict[str, Any] = {
        **{name: header[name] for name in ("session", "cxid", "zxid", "time")},
        **{name: getattr(columns, name) for name in ("op", "type", "multi", "failed")},
        "path": path,
        "data": payload,
        "paths": pa.nulls(len(columns.type), pa.int32()),
        "acl": pa.array(columns.acls, pa.string()).take(_masked(columns.acl, columns.has_acl, pa.int64())),
    }
    for name in ("version", "parent_cversion", "ephemeral", "ttl_ms", "timeout_ms", "error", "digest"):
        values, has = getattr(columns, name)
        made[name] = _masked(values, has, _TYPES[name])
    arrays = [_array(made[name], kind) for name, kind in _TYPES.items()]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _array(made: Any, kind: pa.DataType) -> pa.Array:
    return made if isinstance(made, pa.Array) else pa.array(made.astype(kind.to_pandas_dtype()), kind)


def _masked(values: npt.NDArray[Any], has: npt.NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    return pa.array(values.astype(kind.to_pandas_dtype()), kind, mask=~has)


def _texts(data: bytes, first: int, columns: Columns) -> tuple[pa.Array, pa.Array]:
    """Paths and data, taken from one array over the log's own bytes: its ends are those of both by turns."""
    count = len(columns.type)
    has_path = columns.has_path & ~columns.wrong
    has_data = columns.has_data & ~columns.wrong
    ends = np.empty(4 * count + 1, np.int64)
    ends[0:-1:4] = np.where(has_path, columns.path, columns.body)
    ends[1:-1:4] = np.where(has_path, columns.path_end, columns.body)
    ends[2:-1:4] = np.where(has_data, columns.data, ends[1:-1:4])
    ends[3:-1:4] = np.where(has_data, columns.data_end, ends[1:-1:4])
    ends[-1] = ends[-2] if count else first
    ends -= first
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(memoryview(data)[first:])]
    every = pa.Array.from_buffers(pa.binary(), 4 * count, buffers)
    rows = np.arange(0, 4 * count, 4)
    return every.take(_masked(rows, has_path, pa.int64())), every.take(
        _masked(rows + 2, has_data, pa.int64())
    )


def _utf8(paths: pa.Array) -> pa.Array:
    try:
        return paths.cast(pa.string())
    except pa.ArrowInvalid:  # replaced as Reader.string does
        texts = [None if path is None else path.decode(errors="replace") for path in paths.to_pylist()]
        return pa.array(texts, pa.string())


def _redacted(paths: pa.Array, payload: pa.Array, redaction: Redaction) -> pa.Array:
    """The data with what is secret replaced, before any of it leaves this function."""
    marked = np.zeros(len(paths), np.bool_)
    for mark in redaction.marks:
        hits = pc.fill_null(pc.match_substring(paths, mark), fill_value=False)
        marked |= hits.to_numpy(zero_copy_only=False)
    places = pa.array(np.flatnonzero(marked))
    shown = [
        redaction.apply(path, data)
        for path, data in zip(paths.take(places).to_pylist(), payload.take(places).to_pylist(), strict=True)
    ]
    return pc.replace_with_mask(payload, pa.array(marked), pa.array(shown, pa.binary()))
