"""The rows of the sources: data columns, and two structs that make a row a note instead.

problem: file, offset (bytes), reason, torn. covered: zxid_from, zxid_upto. All else is null beside a note,
but `log`: of which of the logs that are read together it is, by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zkdash.cluster.changes import row
from zkdash.formats.problems import Problem
from zkdash.formats.redaction import Redaction
from zkdash.formats.txnlog import rows
from zkdash.history.store import schemas
from zkdash.history.store.coverage import Stretch
from zkdash.kafka import secrets

LOG: Final = "log"
NOTES: Final = ("problem", "covered", LOG)
PROBLEM: Final = pa.struct(list(schemas.PROBLEMS))
_COVERED: Final = pa.struct(list(schemas.COVERAGE))
_NOTED: Final = [pa.field("problem", PROBLEM), pa.field("covered", _COVERED)]
CHANGES: Final = pa.schema([*schemas.CHANGES, *_NOTED, pa.field(LOG, pa.int32())])
ZNODES: Final = pa.schema([*schemas.CHECKPOINTS, *_NOTED])

REDACTION: Final = Redaction(secrets.MARKS, secrets.redact_anywhere)

_CHANGED_NOTHING: Final = (rows.ERROR, rows.CHECK, rows.MULTI)
_CREATES: Final = (rows.CREATE, rows.CREATE2, rows.CREATE_CONTAINER, rows.CREATE_TTL)
_TTL_BITS: Final = (1 << 40) - 1
_NAMES: Final = pa.array([rows.TYPES.get(code) for code in range(min(rows.TYPES), max(rows.TYPES) + 1)])


def noted(batch: pa.RecordBatch, schema: pa.Schema, log: int | None = None) -> pa.RecordBatch:
    """The data with no note beside it; of logs with the number of theirs."""
    nulls = [pa.nulls(batch.num_rows, kind) for kind in (PROBLEM, _COVERED)]
    of = [] if log is None else [_repeated(log, batch.num_rows, pa.int32())]
    return pa.RecordBatch.from_arrays([*batch.columns, *nulls, *of], schema=schema)


def problems(name: str, flaws: Iterable[Problem], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """One batch with a row a problem of the file, none where there is none."""
    rows = [{"problem": {"file": name, **problem._asdict()}} for problem in flaws]
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def covered(batch: pa.RecordBatch, skipped: Sequence[Stretch], log: int) -> Iterator[pa.RecordBatch]:
    """Which transactions a batch of a log's rows holds but for those `skipped`: a row for each run of
    consecutive zxids."""
    zxids = batch.column("zxid").to_numpy()
    zxids = zxids[is_new(zxids, skipped)]
    if len(zxids):
        breaks = np.flatnonzero(~np.isin(np.diff(zxids), (0, 1))) + 1
        starts, ends = zxids[np.r_[0, breaks]], zxids[np.r_[breaks - 1, -1]]
        ranges = zip(starts.tolist(), ends.tolist(), strict=True)
        notes = [{"covered": {"zxid_from": first, "zxid_upto": last}, LOG: log} for first, last in ranges]
        yield pa.RecordBatch.from_pylist(notes, schema=CHANGES)


def changes(batch: pa.RecordBatch, chroot: str, skipped: Sequence[Stretch]) -> pa.RecordBatch:
    """What the rows of a log changed below a chroot but for transactions `skipped`, as rows of the change."""
    fresh = pa.array(is_new(batch.column("zxid").to_numpy(), skipped))
    happened = pc.and_(pc.invert(batch.column("failed")), fresh)
    for kind in _CHANGED_NOTHING:
        happened = pc.and_(happened, pc.not_equal(batch.column("type"), kind))
    batch = batch.filter(happened)
    if chroot:
        batch = batch.filter(pc.fill_null(_below(batch.column("path"), chroot), fill_value=True))
    made = _columns(batch, chroot)
    return pa.RecordBatch.from_arrays([made[field.name] for field in row.FIELDS], schema=schemas.CHANGES)


def is_new(zxids: Any, skipped: Sequence[Stretch]) -> Any:
    """For each zxid whether no interval holds it; these as `coverage.exact` makes them."""
    if not skipped:
        return np.ones(len(zxids), dtype=bool)
    bounds = np.array(skipped, dtype=np.int64)
    before = np.searchsorted(bounds[:, 0], zxids, side="right") - 1
    return (before < 0) | (zxids > bounds[np.maximum(before, 0), 1])


def znodes(batch: pa.RecordBatch, chroot: str, zxid: int, zxid_upto: int | None) -> pa.RecordBatch:
    """The znodes of a snapshot below a chroot, as rows of the checkpoint."""
    if chroot:
        batch = batch.filter(_below(batch.column("path"), chroot))
        batch = batch.set_column(0, "path", stripped(batch.column("path"), chroot))
    bounds = [_repeated(value, batch.num_rows, pa.int64()) for value in (zxid, zxid_upto)]
    return pa.RecordBatch.from_arrays([*batch.columns, *bounds], schema=schemas.CHECKPOINTS)


def stripped(paths: pa.Array, chroot: str) -> pa.Array:
    """Paths that are all at or below the chroot, as a client with that chroot sees them."""
    if not chroot:
        return paths
    short = pc.utf8_slice_codeunits(paths, start=len(chroot))
    return pc.if_else(pc.equal(short, ""), "/", short)


def _below(paths: pa.Array, chroot: str) -> pa.Array:
    return pc.or_(pc.equal(paths, chroot), pc.starts_with(paths, chroot + "/"))


def _columns(batch: pa.RecordBatch, chroot: str) -> dict[str, Any]:
    count, types = batch.num_rows, batch.column("type").to_numpy()
    created = pa.array(np.isin(types, _CREATES))
    zxid = batch.column("zxid")
    ephemeral = pc.and_(created, pc.fill_null(batch.column("ephemeral"), fill_value=False))
    made = {name: batch.column(name) for name in ("zxid", "time", "session", "data", "acl")}
    return made | {
        "zxid_after": pc.subtract(zxid, 1),
        "zxid_upto": zxid,
        "op_index": batch.column("op"),
        "source": _repeated(row.LOGGED, count, pa.string()),
        "type": _NAMES.take(pa.array(types - min(rows.TYPES))),
        "path": stripped(batch.column("path"), chroot),
        "version": pc.if_else(created, pa.scalar(0, pa.int32()), batch.column("version")),
        "ephemeral": pc.if_else(created, ephemeral, pa.scalar(None, pa.bool_())),
        "ephemeral_owner": pc.if_else(created, _owners(batch, types, ephemeral), pa.scalar(None, pa.int64())),
        "removed": batch.column("paths"),
    }


def _owners(batch: pa.RecordBatch, types: Any, ephemeral: pa.Array) -> pa.Array:
    """Stat's ephemeralOwner of created znodes (org.apache.zookeeper.server.EphemeralType)."""
    ttl = pc.fill_null(pc.bit_wise_and(batch.column("ttl_ms"), _TTL_BITS), 0)
    owners = pc.if_else(ephemeral, batch.column("session"), pa.scalar(0, pa.int64()))
    owners = pc.if_else(pa.array(types == rows.CREATE_TTL), pc.add(ttl, row.TTL_OWNER), owners)
    return pc.if_else(
        pa.array(types == rows.CREATE_CONTAINER), pa.scalar(row.CONTAINER_OWNER, pa.int64()), owners
    )


def _repeated(value: object, count: int, kind: pa.DataType) -> pa.Array:
    return pa.repeat(pa.scalar(value, kind), count)
