"""Parquet files of a table: what a run wrote, as the log lists it; and small ones written without Spark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from zkdash.history.places.location import Location, Remote
from zkdash.history.store import delta_errors
from zkdash.history.store.delta import DATA, DAY, File, Table, TableVersion

COMPRESSION: Final = "zstd"


def read(
    table: Table,
    file: File,
    *,
    columns: Sequence[str] | None = None,
    where: tuple[str, str, object] | None = None,
) -> pa.Table:
    """The rows of a listed file, or those of which `where` is true: column, comparison, value.

    Raises OSError, pa.ArrowException; TableError where it lies elsewhere.
    """
    wanted = None if columns is None else list(columns)
    chosen = None if where is None else [where]
    if not isinstance(table.location, Remote):
        path = table.directory / file.path
        return pq.read_table(path, columns=wanted, filters=chosen, partitioning=None)
    with delta_errors.told(table.location):
        store = _remote().filesystem(table.location, {file.path: file.bytes})
        return pq.read_table(file.path, filesystem=store, columns=wanted, filters=chosen, partitioning=None)


def each(
    table: Table, version: TableVersion | None = None, *, columns: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """The rows of each listed file, one file after the other. Raises as `read` does, and TableError."""
    return (read(table, file, columns=columns) for file in (version or table.read()).files)


def written(table: Table, directory: Location) -> list[File]:
    """What a run wrote below its `Table.staging`, made durable. Files without rows are left out."""
    if isinstance(table.location, Remote):
        return _written_there(table.location, directory.name)
    assert isinstance(directory, Path)  # noqa: S101 - for the type: it lies below the table's
    files = []
    for path in sorted(directory.rglob("*.parquet")):
        metadata = pq.read_metadata(path)
        if not metadata.num_rows:
            continue
        with path.open("rb") as file:
            os.fsync(file.fileno())
        relative = path.relative_to(table.directory)
        files.append(listed(relative.as_posix(), metadata, path.stat().st_size))
    return files


def listed(path: str, metadata: pq.FileMetaData, size: int) -> File:
    """A file of this path below its table's directory and so many bytes, as the log lists it."""
    values = partition(PurePosixPath(path))
    return File(path, metadata.num_rows, size, values, bounds(metadata), nulls(metadata))


def write(table: Table, rows: pa.Table, *, day: str = "") -> list[File]:
    """Write rows as one file, yet to be listed; none where there are no rows.

    Raises OSError; TableError where it lies elsewhere.
    """
    directory = table.staging()
    if isinstance(directory, Remote):
        return _write_there(table, f"{DATA}/{directory.name}", rows, day)
    try:
        if rows.num_rows:
            below = directory / f"{DAY}={day}" if day else directory
            below.mkdir(parents=True)
            pq.write_table(rows, below / "part-0.parquet", compression=COMPRESSION)
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
    base: TableVersion | None = None,
) -> None:
    """Write rows as one file and list it, as `Table.append` does. Raises OSError."""
    if isinstance(table.location, Remote):  # while deltalake writes them, other threads need not wait
        table.append([], stream=stream, batch=batch, base=base, rows=rows)
        return
    added = write(table, rows)
    try:
        table.append(added, stream=stream, batch=batch, base=base)
    except BaseException:
        there = {file.path for file in table.read().files}  # perhaps it was listed all the same
        for file in added:
            if file.path not in there:
                (table.directory / file.path).unlink(missing_ok=True)
        raise


def partition(path: PurePosixPath) -> dict[str, str]:
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


def _write_there(table: Table, below: str, rows: pa.Table, day: str) -> list[File]:
    """Write rows as one file of a store. Nothing is made of it that a store without directories has not."""
    assert isinstance(table.location, Remote)  # noqa: S101 - for the type
    if not rows.num_rows:
        return []
    path = f"{below}/{DAY}={day}/part-0.parquet" if day else f"{below}/part-0.parquet"
    store = _remote().filesystem(table.location)
    collected: list[pq.FileMetaData] = []
    with delta_errors.told(table.location), store.open_output_stream(path) as stream:
        pq.write_table(rows, stream, compression=COMPRESSION, metadata_collector=collected)
        size = stream.tell()
    return [listed(path, collected[0], size)]


def _written_there(directory: Remote, run: str) -> list[File]:
    store = _remote().filesystem(directory)
    made = []
    for entry in _remote().parquet(directory, f"{DATA}/{run}"):
        with store.open_input_file(entry.path) as file:
            metadata = pq.read_metadata(file)
        if metadata.num_rows:
            made.append(listed(entry.path, metadata, entry.size))
    return made


def _remote() -> ModuleType:
    from zkdash.history.places import remote  # noqa: PLC0415 - whose tables lie here does without deltalake's part

    return remote
