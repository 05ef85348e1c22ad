"""The tables of what lies on brokers' disks: log_segments, replica_logs, disk_usage.

The first two hold what the newest run saw. A segment whose size and time did not change since it was read is
not read again, and replicas are compared from the first segment on that changed on either side. A run reads
so many bytes at most, the newest first: what it did not come to is unknown, and left for the next one.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

from zkdash.configuration.log_dirs import LogDirs
from zkdash.history.places.location import Location
from zkdash.history.store import derived, files
from zkdash.history.store.delta import DAY, Table
from zkdash.pipeline.disks import comparing, directories, reading
from zkdash.pipeline.disks.directories import Disk, Replica, segment_key
from zkdash.pipeline.sources.segments import Segment
from zkdash.pipeline.storage import day_partitions
from zkdash.time_units import HOUR_MS, MINUTE_MS

READ_BYTES: Final = 64 << 30  # of segments that a run reads, and as many again to compare replicas

Row = dict[str, Any]


class Taken(msgspec.Struct, frozen=True):
    """What a run saw: directories and segments, how many of these it read, left unread, and did not list;
    replicas that differ from the first one of their partition."""

    directories: int
    segments: int
    read: int
    unread: int
    beyond: int
    differing: int

    @property
    def sentence(self) -> str:
        count = "1 replica differs" if self.differing == 1 else f"{self.differing} replicas differ"
        differing = f", {count}" if self.differing else ""
        unread = f", {self.unread} are left for the next run" if self.unread else ""
        beyond = f"; {self.beyond} more are not listed" if self.beyond else ""
        lie = "1 segment lies" if self.segments == 1 else f"{self.segments} segments lie"
        return f"{lie} on the brokers' disks, {self.read} of them were read{unread}{differing}{beyond}"


def take(
    spark: SparkSession,
    brokers: Iterable[LogDirs],
    directory: Location,
    *,
    read_bytes: int = READ_BYTES,
    now_ms: int | None = None,
) -> Taken:
    """Look at the log directories of a cluster. Raises OSError, ValueError, delta.ConflictError."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    disks = directories.disks(brokers)
    listing = directories.listing(disks)
    earlier = {
        _row_key(row): row for row in _rows(directory, "log_segments") if row["next_offset"] is not None
    }
    rows, fresh = _segments(spark, listing.replicas, earlier, read_bytes)
    replicas = comparing.replicas(
        spark,
        listing.replicas,
        rows,
        fresh=fresh,
        earlier=_rows(directory, "replica_logs"),
        read_bytes=read_bytes,
    )
    listed = [{**row, "as_of_ms": now_ms} for row in rows.values()]
    # last, so that a run which is killed before compares again what it did not tell of
    _put(directory, "replica_logs", [{**row, "as_of_ms": now_ms} for row in replicas])
    _put(directory, "log_segments", listed)
    _add_usage(directory, listed, now_ms)
    unread = sum(row["next_offset"] is None for row in listed)
    return Taken(
        len(disks),
        len(listed),
        len(fresh) - unread,
        unread,
        listing.beyond,
        sum(row["differs_at"] is not None for row in replicas),
    )


def _segments(
    spark: SparkSession,
    replicas: Sequence[Replica],
    earlier: dict[tuple[object, ...], Row],
    read_bytes: int,
) -> tuple[dict[tuple[object, ...], Row], set[tuple[object, ...]]]:
    """A row a segment by its key, without those that vanished; and which of them were not read before."""
    places = {
        segment_key(replica.disk, segment): (replica.disk, segment)
        for replica in replicas
        for segment in replica.log.segments
    }
    fresh = [key for key in places if key not in earlier]
    fresh.sort(key=lambda key: places[key][1].changed_ms, reverse=True)
    chosen: list[tuple[object, ...]] = []
    left = read_bytes
    for key in fresh:
        left -= places[key][1].size
        if left < 0 and chosen:
            break
        chosen.append(key)
    rows: dict[tuple[object, ...], Row] = {}
    read = dict(zip(chosen, reading.segments(spark, [places[key] for key in chosen]), strict=True))
    for key, (disk, segment) in places.items():
        numbers = read.get(key, {})
        if not numbers.get("is_gone"):
            row = _row(disk, segment, numbers)
            rows[key] = {**earlier[key], "broker": disk.broker} if key in earlier else row
    return rows, {key for key in fresh if key in rows}


def _row(disk: Disk, segment: Segment, numbers: Row) -> Row:
    row = {name: numbers.get(name) for name in derived.TABLES["log_segments"].names}
    return row | {
        "broker": disk.broker,
        "directory": disk.path,
        "topic": segment.topic,
        "partition": segment.partition,
        "base_offset": segment.base_offset,
        "bytes": segment.size,
        "changed_ms": segment.changed_ms,
    }


def _row_key(row: Row) -> tuple[object, ...]:
    names = ("directory", "topic", "partition", "base_offset", "bytes", "changed_ms")
    return tuple(row[name] for name in names)


def _rows(directory: Location, name: str) -> list[Row]:
    return [row for part in files.each(Table(directory / name)) for row in part.to_pylist()]


def _put(directory: Location, name: str, rows: list[Row]) -> None:
    """Put rows in place of all that a table holds."""
    table = Table(directory / name)
    base = table.read()
    table.replace(
        base, base.files, files.write(table, pa.Table.from_pylist(rows, schema=derived.TABLES[name]))
    )


def _add_usage(directory: Location, segments: Iterable[Row], now_ms: int) -> None:
    """Add what each disk holds of each topic now; what an earlier run of the same hour saw goes."""
    usage: dict[tuple[int | None, str], Row] = {}
    partitions: defaultdict[tuple[int | None, str], set[tuple[str, int]]] = defaultdict(set)
    minute = now_ms - now_ms % MINUTE_MS
    for row in segments:
        key = row["broker"], row["topic"]
        partitions[key].add((row["directory"], row["partition"]))
        total = usage.setdefault(
            key, {"minute": minute, "broker": key[0], "topic": key[1], "segments": 0, "bytes": 0}
        )
        total["segments"] += 1
        total["bytes"] += row["bytes"]
        total["partitions"] = len(partitions[key])
    table, schema = Table(directory / "disk_usage"), derived.TABLES["disk_usage"]
    base, day = table.read(), str(day_partitions.day(now_ms))
    todays = [file for file in base.files if file.partition.get(DAY) == day]
    kept = [
        row
        for file in todays
        for row in files.read(table, file).to_pylist()
        if row["minute"] < now_ms - now_ms % HOUR_MS
    ]
    rows = pa.Table.from_pylist([*kept, *usage.values()], schema=schema)
    table.replace(base, todays, files.write(table, rows, day=day))
