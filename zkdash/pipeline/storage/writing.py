"""DataFrames into tables: a run's files are written whole, then listed; a batch of a stream once.

Spark writes files, and this process lists them: the log of a table is written by deltalake alone, whatever
the master and wherever tables lie (decisions 0023 and 0026).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from zkdash.history.store import files, schemas
from zkdash.history.store.delta import Table, TableVersion
from zkdash.history.store.location import Location
from zkdash.pipeline.storage import reading, spark_files

_IS_NOTE: Final = "problem IS NOT NULL OR covered IS NOT NULL"


def logs(
    rows: DataFrame, directory: Location, stream: str, batch: int, *, base: Mapping[str, TableVersion] = {}
) -> None:
    """Add what logs or snapshots held to the tables of a cluster: data and notes, read once.

    A batch of a stream that is in a table already adds nothing to it: after a crash between two tables the
    next attempt adds to the others. Raises ConflictError where the stream went on since a table was `base`.
    """
    cached = rows.persist()
    try:
        name = "changes" if "op_index" in rows.columns else "znodes_checkpoint"
        table = Table(directory / name)
        if not _is_in(table, stream, batch):
            added = spark_files.write(reading.data(cached), table)  # each log's rows in their order
            upto = [file.bounds["zxid"][1] for file in added if name == "znodes_checkpoint"]
            positions = {schemas.SNAPSHOTS_UPTO: max(upto)} if upto else {}
            table.append(added, stream=stream, batch=batch, base=base.get(name), positions=positions)
        notes = cached.where(_IS_NOTE).select("problem", "covered").toArrow()
        for name, column in (("problems", "problem"), ("coverage", "covered")):
            table = Table(directory / name)
            if not _is_in(table, stream, batch):
                records = notes.column(column).drop_null().to_pylist()
                noted = pa.Table.from_pylist(records, schema=schemas.TABLES[name])
                files.append(table, noted, stream=stream, batch=batch, base=base.get(name))
    finally:
        cached.unpersist()


def stream_logs(
    rows: DataFrame, directory: Location, name: str, *, interval_s: float = 5.0
) -> StreamingQuery:
    """Start a stream of logs into the tables of a cluster.

    Where it stands is kept below `directory`, so that a run that was killed goes on where it was.
    """

    def add(batch: DataFrame, number: int) -> None:
        logs(batch, directory, name, number)

    return (
        rows.writeStream.foreachBatch(add)
        .option("checkpointLocation", str(directory / "streams" / name))
        .trigger(processingTime=f"{round(interval_s * 1000)} milliseconds")
        .queryName(name)
        .start()
    )


def _is_in(table: Table, stream: str, batch: int) -> bool:
    position = table.read().position(stream)
    return position is not None and position >= batch
