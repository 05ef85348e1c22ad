"""Parquet files of a table: what a run wrote, as manifests list it; and small ones written without Spark."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from zkdash.history.store.manifest import File, Manifest, Table

_COMPRESSION = "zstd"


def written(table: Table, run: str, directory: Path) -> list[File]:
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
                run,
                _partition(path.relative_to(directory)),
                _bounds(metadata),
            )
        )
    return files


def append(table: Table, rows: pa.Table, run: str, *, stream: str = "", batch: int = 0) -> Manifest:
    """Write rows as one file of a run and list it; none where there are no rows. Raises OSError."""
    directory = table.staging(run)
    if rows.num_rows:
        directory.mkdir()
        pq.write_table(rows, directory / "part-0.parquet", compression=_COMPRESSION)
    return table.append(written(table, run, directory), stream=stream, batch=batch)


def _partition(path: Path) -> dict[str, str]:
    """The values in directory names such as day=2026-01-31."""
    named = (part.partition("=") for part in path.parts[:-1])
    return {name: unquote(value) for name, equals, value in named if equals}


def _bounds(metadata: pq.FileMetaData) -> dict[str, tuple[int, int]]:
    """The least and greatest value of each whole-number column of which the file tells both."""
    bounds: dict[str, tuple[int, int]] = {}
    unknown = set()
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            if column.physical_type not in ("INT32", "INT64"):
                continue
            name, statistics = column.path_in_schema, column.statistics
            if statistics is None or not statistics.has_min_max or type(statistics.min) is not int:
                unknown.add(name)
                continue
            least, most = bounds.get(name, (statistics.min, statistics.max))
            bounds[name] = min(least, statistics.min), max(most, statistics.max)
    return {name: pair for name, pair in bounds.items() if name not in unknown}
