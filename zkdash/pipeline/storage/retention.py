"""What is deleted: days of the derived tables, changes before the checkpoint that the kept days begin with.

Of commits and groups that Kafka keeps, the last one of each stays however old it is: it is what there is.

Files leave the list at once, and the disk when no reader can hold an older list (`delta.GRACE_MS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from zkdash.cluster.changes import row
from zkdash.history.places.location import Location
from zkdash.history.store import coverage, derived, files, schemas, watching
from zkdash.history.store.delta import DAY, GRACE_MS, File, Table, TableVersion
from zkdash.time_units import DAY_MS

# Intervals that began long ago and still last, or ended later, are kept.
_SPANS: Final = ("partition_intervals", "controller_epochs", "broker_sessions", "rebalances", "sessions")
FLOOR: Final = "retained_ms"  # a position: what is older was deleted, and is not read again


class Record(NamedTuple):
    """Records of __consumer_offsets as a table: the column of when they were written, and their key."""

    time: str
    key: tuple[str, ...]


RECORDS: Final = {
    "kafka_commits": Record("commit_ms", ("group", "topic", "part")),
    "kafka_groups": Record("time", ("group",)),
}


class Retained(msgspec.Struct, frozen=True):
    """How many files left the lists, and the disk; whether a checkpoint lets changes go."""

    retired: int
    deleted: int
    has_checkpoint: bool


def retain(directory: Location, days: int, *, now_ms: int, grace_ms: int = GRACE_MS) -> Retained:
    """Keep `days` of a cluster's tables. Raises delta.ConflictError where one is written meanwhile."""
    cutoff = now_ms - days * DAY_MS
    cutoff -= cutoff % DAY_MS
    checkpoint = _checkpoint(directory, cutoff)
    retired = 0
    if checkpoint is not None:
        retired += _forget(directory, checkpoint)
    for name in derived.TABLES:
        table = Table(directory / name)
        if name == "log_ends":
            retired += table.delete(f"time < {cutoff}")
        elif name in derived.DATED:
            retired += _forget_days(table, cutoff, is_span=name in _SPANS)
    _forget_times(Table(directory / "covered_times"), cutoff)
    for name, record in RECORDS.items():
        retired += _forget_records(Table(directory / name), record, cutoff)
    for name in ("changes", "coverage", "problems"):
        Table(directory / name).compact()
    deleted = sum(
        Table(directory / name).vacuum(grace_ms=grace_ms)
        for name in (*schemas.TABLES, *derived.TABLES, *schemas.INNER)
    )
    for name in (*schemas.TABLES, *derived.TABLES, *schemas.INNER):
        Table(directory / name).sweep()
    return Retained(retired, deleted, checkpoint is not None)


def _checkpoint(directory: Location, cutoff: int) -> int | None:
    """The newest checkpoint that the tree of every kept moment can be told from, and that is derived from."""
    last = 0
    for file in _all(directory / "changes", "zxid_upto", "time"):
        rows = file.filter(pc.less(file["time"], cutoff))
        last = max(last, pc.max(rows["zxid_upto"]).as_py() or 0)
    carried = Table(directory / "held").read()
    position = max(carried.position(f"derived:{source}") or 0 for source in (row.LOGGED, row.WATCHED))
    zxids = [
        zxid
        for file in _all(directory / "znodes_checkpoint", "zxid", "zxid_upto")
        for zxid in pc.unique(
            file.filter(pc.less_equal(file["zxid_upto"], min(last, position)))["zxid"]
        ).to_pylist()
    ]
    return max(zxids, default=None)


def _forget(directory: Location, checkpoint: int) -> int:
    """Take off what only moments before a checkpoint need. Coverage first: what is gone is not covered."""
    table = Table(directory / "coverage")
    base = table.read()
    kept = [
        {"zxid_from": max(each.first, checkpoint + 1), "zxid_upto": each.last}
        for each in coverage.intervals(table)
        if each.last > checkpoint
    ]
    if base.files and (base.position(coverage.FLOOR) or 0) < checkpoint:
        rows = pa.Table.from_pylist(kept, schema=schemas.COVERAGE)
        _rewrite(table, base, base.files, rows, positions={coverage.FLOOR: checkpoint})
    watched = Table(directory / watching.NAME)
    seen = watched.read()
    if any(file.bounds["zxid_from"][0] <= checkpoint for file in seen.files):
        rows = pa.Table.from_pylist(watching.after(watched, checkpoint, seen), schema=schemas.WATCHED)
        _rewrite(watched, seen, seen.files, rows)
    changes = Table(directory / "changes").delete(f"zxid_upto <= {checkpoint}")
    return changes + Table(directory / "znodes_checkpoint").delete(f"zxid < {checkpoint}")


def _forget_days(table: Table, cutoff: int, *, is_span: bool) -> int:
    first = datetime.fromtimestamp(cutoff / 1000, UTC).date().isoformat()
    ended = f" AND to_ms < {cutoff}" if is_span else ""
    return table.delete(f"{DAY} < '{first}'{ended}")


def _forget_times(table: Table, cutoff: int) -> None:
    """Of what is older nothing is told any more."""
    base = table.read()
    if all(file.bounds["from_ms"][0] >= cutoff for file in base.files):
        return
    rows = [row for part in files.each(table, base) for row in part.to_pylist() if row["to_ms"] >= cutoff]
    kept = [{**row, "from_ms": max(row["from_ms"], cutoff)} for row in rows]
    _rewrite(table, base, base.files, pa.Table.from_pylist(kept, schema=derived.TABLES[table.name]))


def _forget_records(table: Table, record: Record, cutoff: int) -> int:
    """Take off records that are too old and that another one of the same key followed."""
    base = table.read()
    bounds = [file.bounds.get(record.time) for file in base.files]
    old = [file for file, bound in zip(base.files, bounds, strict=True) if bound and bound[0] < cutoff]
    if not old:
        return 0
    keys = [*record.key, "log_partition"]
    every = pa.concat_tables(_all(table.location, *keys, "log_offset"))
    newest = every.group_by(keys).aggregate([("log_offset", "max")])
    rows = pa.concat_tables([files.read(table, file) for file in old])
    numbered = rows.select([*keys, "log_offset"]).append_column("row", pa.array(range(rows.num_rows)))
    last = numbered.join(newest, keys).sort_by("row")
    is_last = pc.equal(last["log_offset"], last["log_offset_max"])
    is_young = pc.fill_null(pc.greater_equal(rows[record.time], cutoff), fill_value=True)
    kept = rows.filter(pc.or_(is_last, is_young))
    if kept.num_rows == rows.num_rows:
        return 0
    _rewrite(table, base, old, kept, positions={FLOOR: cutoff})
    return len(old)


def _rewrite(
    table: Table,
    base: TableVersion,
    old: Iterable[File],
    rows: pa.Table,
    *,
    positions: Mapping[str, int] = {},
) -> None:
    table.replace(base, old, files.write(table, rows), positions=positions)


def _all(directory: Location, *columns: str) -> Iterable[pa.Table]:
    return files.each(Table(directory), columns=columns)
