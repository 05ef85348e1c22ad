"""Segments, read by Spark's executors, some of them a task: their numbers, and where replicas differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from zkdash.formats.inspection.contents import contents
from zkdash.formats.inspection.replicas import ReplicaSegment, difference
from zkdash.pipeline.disks.directories import Disk, Replica
from zkdash.pipeline.sources import files
from zkdash.pipeline.sources.segments import OLDEST, LogDirectory, Segment

_TASKS: Final = 200
_PLACE: Final = pa.struct(
    {
        "directory": pa.string(),
        "path": pa.string(),
        "base_offset": pa.int64(),
        "size": pa.int64(),
        "kind": pa.string(),
    }
)
_TO_READ: Final = pa.schema({"number": pa.int64(), "segment": _PLACE})
CONTENTS: Final = pa.schema(
    {
        "number": pa.int64(),
        "is_gone": pa.bool_(),
        "next_offset": pa.int64(),
        "first_ms": pa.int64(),
        "last_ms": pa.int64(),
        "entries": pa.int64(),
        "records": pa.int64(),
        "codecs": pa.list_(pa.string()),
        "leader_epoch": pa.int32(),
        "whole_bytes": pa.int64(),
        "tail": pa.string(),
        "damaged": pa.int64(),
    }
)
_TO_COMPARE: Final = pa.schema(
    {
        "number": pa.int64(),
        "first": pa.list_(_PLACE),
        "second": pa.list_(_PLACE),
        "start": pa.int64(),
        "end": pa.int64(),
    }
)
_DIFFERENCES: Final = pa.schema(
    {
        "number": pa.int64(),
        "is_known": pa.bool_(),
        "offset": pa.int64(),
        "entries": pa.int64(),
        "first": pa.string(),
        "second": pa.string(),
    }
)


class Pair(NamedTuple):
    """Two replicas of a partition, to be compared from an offset up to another."""

    first: Replica
    second: Replica
    start: int
    end: int


def segments(spark: SparkSession, places: Sequence[tuple[Disk, Segment]]) -> list[dict[str, Any]]:
    """The numbers of segments, in their order, as CONTENTS; a segment that is gone says so."""
    rows = [
        {"number": number, "segment": _place(disk, segment)} for number, (disk, segment) in enumerate(places)
    ]
    return _run(spark, rows, _TO_READ, _read, CONTENTS)


def differences(spark: SparkSession, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """How each pair differs, in their order; `offset` is null where they are the same."""
    rows = [
        {
            "number": number,
            "first": [_place(pair.first.disk, each) for each in pair.first.log.segments],
            "second": [_place(pair.second.disk, each) for each in pair.second.log.segments],
            "start": pair.start,
            "end": pair.end,
        }
        for number, pair in enumerate(pairs)
    ]
    return _run(spark, rows, _TO_COMPARE, _compare, _DIFFERENCES)


def _run(
    spark: SparkSession, rows: list[dict[str, Any]], given: pa.Schema, job: Any, made: pa.Schema
) -> list[dict[str, Any]]:
    if not rows:
        return []
    frame = spark.createDataFrame(pa.Table.from_pylist(rows, schema=given))
    spread = frame.repartition(min(len(rows), _TASKS), "number")
    answers: list[dict[str, Any]] = spread.mapInArrow(job, from_arrow_schema(made)).toArrow().to_pylist()
    return sorted(answers, key=lambda row: row["number"])


def _place(disk: Disk, segment: Segment) -> dict[str, Any]:
    return {
        "directory": disk.path,
        "path": segment.path,
        "base_offset": segment.base_offset,
        "size": segment.size,
        "kind": segment.kind,
    }


def _segment(place: dict[str, Any]) -> Segment:
    return Segment(place["path"], "", "", 0, place["base_offset"], place["size"], place["kind"])


def _read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [_numbers(row["number"], row["segment"]) for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, schema=CONTENTS)


def _numbers(number: int, place: dict[str, Any]) -> dict[str, Any]:
    segment = _segment(place)
    try:
        with LogDirectory(place["directory"]).opened(segment) as source:
            read = contents(source, segment.base_offset, is_oldest=segment.kind == OLDEST)
    except FileNotFoundError:
        return {"number": number, "is_gone": True}
    except OSError as error:
        return {"number": number, "is_gone": False, "tail": files.reason(error)}
    tail = None if read.tail is None else f"at byte {read.tail.offset} {read.tail.reason}"
    return {**read._asdict(), "number": number, "is_gone": False, "tail": tail}


def _compare(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [_differing(row) for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, schema=_DIFFERENCES)


def _differing(row: dict[str, Any]) -> dict[str, Any]:
    """A file that vanishes or cannot be read leaves it unknown: the next run looks again."""
    first, second = ([_opened(place) for place in row[side]] for side in ("first", "second"))
    try:
        differs = difference(first, second, row["start"], row["end"])
    except OSError:
        return {"number": row["number"], "is_known": False}
    same = {"number": row["number"], "is_known": True}
    return same if differs is None else {**same, **differs._asdict()}


def _opened(place: dict[str, Any]) -> ReplicaSegment:
    directory, segment = LogDirectory(place["directory"]), _segment(place)
    return ReplicaSegment(segment.base_offset, partial(directory.opened, segment))
