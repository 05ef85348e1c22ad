"""Tables whose files lie by day: read some days with Spark, put days in place of days.

What got rows is written anew with what it held, and nothing else is: of a day the files whose hours these
are, as one; where a day has many rows, each hour has a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import reduce
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.pandas.types import from_arrow_schema

from zkdash.history.store.delta import DAY, File, Table, TableVersion
from zkdash.pipeline.storage import spark_files
from zkdash.pipeline.storage.spark_files import HOUR
from zkdash.time_units import HOUR_MS

_END: Final = "to_ms"
MOST_ROWS_A_DAY: Final = 250_000  # in one file

Hours = Mapping[str, Mapping[int, int]]
Merge = Callable[[DataFrame, DataFrame], DataFrame]


def lasting(listed: Iterable[File], since_ms: float) -> list[File]:
    """Files of intervals that may hold one that lasts, or that ended at `since_ms` (epoch ms) or later."""
    return [file for file in listed if _may_last(file, since_ms)]


def _may_last(file: File, since_ms: float) -> bool:
    """Whether the log does not tell that all of it ended, and before that."""
    ends = file.bounds.get(_END)
    return ends is None or ends[1] >= since_ms or file.nulls.get(_END) != 0


def of_days(version: TableVersion, days: Collection[str]) -> list[File]:
    return [file for file in version.files if file.partition.get(DAY) in days]


def of_hours(version: TableVersion, hours: Hours, column: str) -> list[File]:
    """The files that may hold rows of these hours, by a time in epoch ms."""
    return [file for file in version.files if _overlaps(file, hours.get(file.partition[DAY], ()), column)]


def _overlaps(file: File, hours: Iterable[int], column: str) -> bool:
    bounds = file.bounds.get(column)
    if bounds is None:
        return True
    first, last = (bound // HOUR_MS for bound in bounds)
    return any(first <= hour <= last for hour in hours)


def dated(rows: DataFrame, column: str) -> DataFrame:
    """Rows with their day, by a time in epoch ms."""
    return rows.withColumn(DAY, F.to_date(F.timestamp_millis(F.col(column))))


def days(rows: DataFrame) -> set[str]:
    return {str(row[DAY]) for row in rows.select(DAY).distinct().collect()}


def hours(rows: DataFrame, column: str) -> Hours:
    """How many of dated rows are of each hour (of epoch ms) of each day, by a time in epoch ms."""
    made: dict[str, dict[int, int]] = {}
    for row in rows.groupBy(DAY, _hour(column).alias(HOUR)).count().collect():
        made.setdefault(str(row[DAY]), {})[row[HOUR]] = row["count"]
    return made


def large(hours: Hours, listed: Iterable[File]) -> set[str]:
    """The days of too many rows for one file: these, and what files hold."""
    sums = {day: sum(counts.values()) for day, counts in hours.items()}
    for file in listed:
        sums[file.partition[DAY]] = sums.get(file.partition[DAY], 0) + file.rows
    return {day for day, rows in sums.items() if rows > MOST_ROWS_A_DAY}


def _hour(column: str) -> Column:
    return F.floor(F.col(column) / HOUR_MS)


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
    order: Sequence[str],
    position: Mapping[str, int],
    large: Collection[str] = (),
) -> int:
    """Put rows (dated or not) in place of some files of `base`, and move the position on; how many rows.

    Of days that are `large` each hour has files of its own, by the first column of the `order`. Raises
    delta.ConflictError where another run wrote the table meanwhile.
    """
    if large:
        is_large = F.col(DAY).cast("string").isin(sorted(large))
        rows = rows.withColumn(HOUR, F.when(is_large, _hour(order[0])).otherwise(0))
    by = [name for name in spark_files.BY if name in rows.columns]
    spread = rows.repartition(*by) if by else rows.coalesce(1)
    added = spark_files.write(spread.sortWithinPartitions(*by, *order), table)
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
