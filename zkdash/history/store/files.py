"""Parquet files of a table: what a run wrote, as the log lists it; and small ones written without Spark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from zkdash.history.store.delta import DAY, File, Table, TableVersion

_COMPRESSION = "zstd"


def written(table: Table, directory: Path) -> list[File]:
    """What a run wrote below its `Table.staging`, made durable. Files without rows are left out."""
    files = []
    for path in sorted(directory.rglob("*.parquet")):
        metadata = pq.read_metadata(path)
        if not metadata.num_rows:
            continue
        with path.open("rb") as file:
            os.fsync(file.fileno())
        relative = path.relative_to(table.directory)
        files.append(
            File(
                relative.as_posix(),
                metadata.num_rows,
                path.stat().st_size,
                partition(path.relative_to(directory)),
                bounds(metadata),
                nulls(metadata),
            )
        )
    return files


def write(table: Table, rows: pa.Table, *, day: str = "") -> list[File]:
    """Write rows as one file, yet to be listed; none where there are no rows. Raises OSError."""
    directory = table.staging()
    try:
        if rows.num_rows:
            below = directory / f"{DAY}={day}" if day else directory
            below.mkdir(parents=True)
            pq.write_table(rows, below / "part-0.parquet", compression=_COMPRESSION)
        return written(table, directory)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def append(
    table: Table,
    rows: pa.Table,
    *,
    stream: str = "",
    batch: int = 0,
    day: str = "",
    base: TableVersion | None = None,
) -> None:
    """Write rows as one file and list it, as `Table.append` does. Raises OSError."""
    added = write(table, rows, day=day)
    try:
        table.append(added, stream=stream, batch=batch, base=base)
    except BaseException:
        listed = {file.path for file in table.read().files}  # perhaps it was listed all the same
        for file in added:
            if file.path not in listed:
                (table.directory / file.path).unlink(missing_ok=True)
        raise


def partition(path: Path) -> dict[str, str]:
    """The values in directory names such as date=2026-01-31."""
    named = (part.partition("=") for part in path.parts[:-1])
    return {name: unquote(value) for name, equals, value in named if equals}


def bounds(metadata: pq.FileMetaData) -> dict[str, tuple[int, int]]:
    """The least and greatest value of each whole-number column of which the file tells both."""
    pairs: dict[str, tuple[int, int]] = {}
    unknown = set()
    for name, rows, statistics in _whole_numbers(metadata):
        if statistics is not None and statistics.null_count == rows:
            continue  # it has no value
        if statistics is None or not statistics.has_min_max or type(statistics.min) is not int:
            unknown.add(name)
            continue
        least, most = pairs.get(name, (statistics.min, statistics.max))
        pairs[name] = min(least, statistics.min), max(most, statistics.max)
    return {name: pair for name, pair in pairs.items() if name not in unknown}


def nulls(metadata: pq.FileMetaData) -> dict[str, int]:
    """In how many rows each whole-number column has no value, where the file tells."""
    counts: dict[str, int] = {}
    unknown = set()
    for name, _, statistics in _whole_numbers(metadata):
        if statistics is None or not statistics.has_null_count:
            unknown.add(name)
        else:
            counts[name] = counts.get(name, 0) + statistics.null_count
    return {name: count for name, count in counts.items() if name not in unknown}


def _whole_numbers(metadata: pq.FileMetaData) -> Iterator[tuple[str, int, pq.Statistics | None]]:
    """Name, rows and statistics of these columns in each row group."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(metadata.num_columns):
            column = group.column(place)
            if column.physical_type in ("INT32", "INT64") and "." not in column.path_in_schema:
                yield column.path_in_schema, group.num_rows, column.statistics
