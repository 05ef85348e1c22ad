"""DataFrames into tables: a run's files are written whole, then listed; a batch of a stream once.

Tables lie on a file system that the driver and the executors share: one machine's own, or NFS.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from zkdash.history.store import files, schemas
from zkdash.history.store.manifest import File, Manifest, Table
from zkdash.pipeline.storage import reading

_IS_NOTE: Final = "problem IS NOT NULL OR covered IS NOT NULL"


def append(frame: DataFrame, table: Table, run: str, *, partition_by: Iterable[str] = ()) -> Manifest:
    """Add a DataFrame's rows to a table. Raises ConflictError where this run is in it already."""
    return table.append(_written(frame, table, run, partition_by))


def replace(frame: DataFrame, table: Table, run: str, *, partition_by: Iterable[str] = ()) -> Manifest:
    """Put a DataFrame's rows in place of the partitions that they are in; of the whole table without any.

    Raises ConflictError where another run wrote the table meanwhile.
    """
    base, keys = table.read(), tuple(partition_by)
    added = _written(frame, table, run, keys)
    return table.replace_partitions(base, added, keys=keys, now_ms=_now_ms())


def logs(rows: DataFrame, directory: Path, run: str, *, stream: str = "", batch: int = 0) -> None:
    """Add what logs or snapshots held to the tables of a cluster: data and notes, read once.

    A run, or a batch of a stream, that is in a table already adds nothing to it: after a crash between two
    tables the next attempt adds to the others.
    """
    cached = rows.persist()
    try:
        name = "changes" if "op_index" in rows.columns else "znodes_checkpoint"
        table = Table(directory / name)
        if not _is_in(table, run, stream, batch):
            added = _written(reading.data(cached), table, run)  # each log's rows in their order
            table.append(added, stream=stream, batch=batch)
        notes = cached.where(_IS_NOTE).select("problem", "covered").toArrow()
        for name, column in (("problems", "problem"), ("coverage", "covered")):
            table = Table(directory / name)
            if not _is_in(table, run, stream, batch):
                records = notes.column(column).drop_null().to_pylist()
                noted = pa.Table.from_pylist(records, schema=schemas.TABLES[name])
                files.append(table, noted, run, stream=stream, batch=batch)
    finally:
        cached.unpersist()


def stream_logs(rows: DataFrame, directory: Path, name: str, *, interval_s: float = 5.0) -> StreamingQuery:
    """Start a stream of logs into the tables of a cluster.

    Where it stands is kept below `directory`, so that a run that was killed goes on where it was.
    """

    def add(batch: DataFrame, number: int) -> None:
        logs(batch, directory, f"{name}-{number:012}", stream=name, batch=number)

    return (
        rows.writeStream.foreachBatch(add)
        .option("checkpointLocation", str(directory / "streams" / name))
        .trigger(processingTime=f"{round(interval_s * 1000)} milliseconds")
        .queryName(name)
        .start()
    )


def _is_in(table: Table, run: str, stream: str, batch: int) -> bool:
    now = table.read()
    return now.streams.get(stream, -1) >= batch if stream else any(file.run == run for file in now.files)


def _written(frame: DataFrame, table: Table, run: str, partition_by: Iterable[str] = ()) -> list[File]:
    directory = table.staging(run)
    frame.write.partitionBy(*partition_by).parquet(f"file://{directory.absolute()}")
    return files.written(table, run, directory)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
