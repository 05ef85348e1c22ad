"""Tables whose files lie by day: read some days with Spark, put days in place of days.

A day that got rows is written anew with what it held, as one file; all others are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.pandas.types import from_arrow_schema

from zkdash.history.store.delta import DAY, File, Table, TableVersion
from zkdash.pipeline.storage import spark_files

Merge = Callable[[DataFrame, DataFrame], DataFrame]


read = spark_files.read


def of_days(version: TableVersion, days: Collection[str]) -> list[File]:
    return [file for file in version.files if file.partition.get(DAY) in days]


def dated(rows: DataFrame, column: str) -> DataFrame:
    """Rows with their day, by a time in epoch ms."""
    return rows.withColumn(DAY, F.to_date(F.timestamp_millis(F.col(column))))


def days(rows: DataFrame) -> set[str]:
    return {str(row[DAY]) for row in rows.select(DAY).distinct().collect()}


def day(ms: int) -> date:
    """The day of a time in epoch ms."""
    return datetime.fromtimestamp(ms / 1000, UTC).date()


def begin(first: date) -> int:
    """The epoch ms at which a day begins."""
    return int(datetime.combine(first, datetime.min.time(), UTC).timestamp() * 1000)


def put(
    table: Table,
    rows: DataFrame,
    *,
    base: TableVersion,
    removed: Iterable[File],
    order: Iterable[str],
    position: Mapping[str, int],
) -> int:
    """Put rows (dated or not) in place of some files of `base`, and move the position on; how many rows.

    Raises delta.ConflictError where another run wrote the table meanwhile.
    """
    is_dated = DAY in rows.columns
    spread = rows.repartition(DAY) if is_dated else rows.coalesce(1)
    added = spark_files.write(spread.sortWithinPartitions(*([DAY] if is_dated else []), *order), table)
    table.replace(base, removed, added, positions=position)
    return sum(file.rows for file in added)


def keyed(*key: str) -> Merge:
    """What is new replaces what has the same key."""

    def merge(old: DataFrame, new: DataFrame) -> DataFrame:
        return old.join(new.select(*key), list(key), "left_anti").unionByName(new)

    return merge


def summed(*key: str) -> Merge:
    """All columns but the key's are added up."""

    def merge(old: DataFrame, new: DataFrame) -> DataFrame:
        both = old.unionByName(new)
        values = [name for name in both.columns if name not in (*key, DAY)]
        return both.groupBy(*key, DAY).agg(*(F.sum(name).alias(name) for name in values))

    return merge


def none(spark: SparkSession, schema: pa.Schema) -> DataFrame:
    return spark.createDataFrame([], from_arrow_schema(schema))


def union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)
