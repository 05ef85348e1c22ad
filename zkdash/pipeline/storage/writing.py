"""DataFrames into tables: a run's files are written whole, then listed; a batch of a stream once.

Spark writes files, and this process lists them: the log of a table is written by deltalake alone, whatever
the master and wherever tables lie (decisions 0023 and 0028).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.streaming.query import StreamingQuery

from zkdash.history.places.location import Location
from zkdash.history.store import coverage, files, schemas
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import Table, TableVersion
from zkdash.pipeline.sources.rows import LOG, is_new
from zkdash.pipeline.storage import arrivals, reading, spark_files

_FEW: Final = 100
_IS_NOTE: Final = "problem IS NOT NULL OR covered IS NOT NULL"


def logs(
    rows: DataFrame,
    directory: Location,
    stream: str,
    batch: int,
    *,
    base: Mapping[str, TableVersion] = {},
    files_read: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Add what logs or snapshots held to the tables of a cluster: data and notes, read once.

    Of logs what `coverage` does not hold yet, each transaction of one log alone. `files_read` were read
    whole: what was told of them before is told no more. A batch of a stream that is in a table already adds
    nothing to it: after a crash between two tables the next attempt adds to the others. Returns the problems.
    Raises ConflictError where the stream went on since a table was `base`.
    """
    cached = rows.persist()
    try:
        are_logs = "op_index" in rows.columns
        notes = _notes(cached, are_logs=are_logs)
        read = notes.covered
        shares = coverage.shares(read, coverage.intervals(Table(directory / "coverage")))
        table = Table(directory / ("changes" if are_logs else "znodes_checkpoint"))
        if not _is_in(table, stream, batch):
            data = _shared(cached, read, shares) if are_logs else cached
            added = spark_files.write(reading.data(data), table)  # each log's rows in their order
            table.append(added, stream=stream, batch=batch, base=base.get(table.name))
        forget(Table(directory / "problems"), files_read)
        new = coverage.exact(stretch for share in shares.values() for stretch in share)
        covered = [{"zxid_from": stretch.first, "zxid_upto": stretch.last} for stretch in new]
        for name, records in (("problems", notes.problems), ("coverage", covered)):
            table = Table(directory / name)
            if not _is_in(table, stream, batch):
                noted = pa.Table.from_pylist(records, schema=schemas.TABLES[name])
                files.append(table, noted, stream=stream, batch=batch, base=base.get(name))
        return notes.problems
    finally:
        cached.unpersist()


def stream_logs(
    rows: DataFrame, directory: Location, name: str, *, interval_s: float = 5.0
) -> StreamingQuery:
    """Start a stream of logs into the tables of a cluster.

    Where it stands is kept below `directory`, so that a run that was killed goes on where it was.
    """
    arrivals.prepare(directory, name)

    def add(batch: DataFrame, number: int) -> None:
        logs(batch, directory, name, number)

    return (
        rows.writeStream.foreachBatch(add)
        .option("checkpointLocation", str(directory / "streams" / name))
        .trigger(processingTime=f"{round(interval_s * 1000)} milliseconds")
        .queryName(name)
        .start()
    )


class _Notes(NamedTuple):
    """What could not be read, and which transactions each log holds."""

    problems: list[dict[str, Any]]
    covered: dict[int, list[Stretch]]


def _notes(cached: DataFrame, *, are_logs: bool) -> _Notes:
    names = ["problem", "covered", *([LOG] if are_logs else [])]
    problems = []
    covered: dict[int, list[Stretch]] = {}
    for note in cached.where(_IS_NOTE).select(*names).toArrow().to_pylist():
        if note["problem"] is not None:
            problems.append(note["problem"])
        else:
            stretch = Stretch(note["covered"]["zxid_from"], note["covered"]["zxid_upto"])
            covered.setdefault(note[LOG], []).append(stretch)
    return _Notes(problems, covered)


def _shared(
    cached: DataFrame, read: Mapping[int, list[Stretch]], shares: Mapping[int, list[Stretch]]
) -> DataFrame:
    """Of each log its share. What was read once more, for memory was short, may hold more than was noted."""
    kept = coverage.exact(stretch for share in shares.values() for stretch in share)
    others = {log: coverage.without(kept, shares[log]) for log in read}
    others = {log: _meeting(stretches, read[log]) for log, stretches in others.items()}
    if len(kept) + sum(map(len, others.values())) > _FEW:  # a log with many holes; too much for an expression
        return cached.mapInArrow(partial(_keep, shares), cached.schema)
    chosen = cached.where(_within(kept))
    for log, stretches in others.items():
        if stretches:
            chosen = chosen.where((F.col(LOG) != log) | ~_within(stretches))
    return chosen


def _meeting(stretches: Sequence[Stretch], read: Sequence[Stretch]) -> list[Stretch]:
    """Those in which something was read."""
    return [each for each in stretches if coverage.without([each], coverage.exact(read)) != [each]]


def _within(stretches: Iterable[Stretch]) -> Column:
    return reduce(or_, (F.col("zxid").between(*each) for each in stretches), F.lit(False))


def _keep(
    shares: Mapping[int, Sequence[Stretch]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        zxids = pc.fill_null(batch.column("zxid"), coverage.LEAST).to_numpy()
        logs = pc.fill_null(batch.column(LOG), -1).to_numpy()
        kept = np.zeros(len(zxids), dtype=bool)
        for log in np.unique(logs):
            if log in shares:
                kept |= (logs == log) & ~is_new(zxids, shares[log])
        yield batch.filter(pa.array(kept))


def forget(problems: Table, places: Collection[str]) -> None:
    """Take away what was told of these files."""
    if again := sorted(set(places) & arrivals.doubtful(problems)):
        names = ", ".join("'" + name.replace("'", "''") + "'" for name in again)
        problems.delete(f"file IN ({names})")


def _is_in(table: Table, stream: str, batch: int) -> bool:
    position = table.read().position(stream)
    return position is not None and position >= batch
