"""The derived tables of a cluster that are brought up to date, and what was loaded for them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.history.places.location import Location
from zkdash.history.store import derived
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import DAY, File, Table, TableVersion
from zkdash.pipeline import checkpoints
from zkdash.pipeline.derivation import inputs
from zkdash.pipeline.derivation.inputs import Inputs
from zkdash.pipeline.storage import day_partitions, spark_files


class Targets:
    """`source` says whose changes they are derived from, those of logs or of a watcher."""

    def __init__(self, spark: SparkSession, directory: Location, source: str) -> None:
        self.spark = spark
        self.key = inputs.key(source)
        self._directory = directory
        self._source = source
        self._inputs: dict[int, Inputs] = {}

    def has_begun(self, version: TableVersion) -> bool:
        """Whether a table is gone on with; else what it holds is replaced."""
        return inputs.has_begun(version, self._source)

    def is_anew(self, version: TableVersion) -> bool:
        """Whether what a table holds was derived without what came late."""
        return version.position(self.key) == inputs.ANEW

    def begin_anew(self) -> None:
        """Have every table be replaced by what is derived next; until then it is read as it is.

        Raises delta.ConflictError.
        """
        for name in (*derived.TABLES, "held"):
            now = self.table(name).read()
            is_ours = now.position(self.key) is not None or name == "lag_estimates"
            if is_ours and now.version >= 0:
                self.table(name).replace(now, (), (), positions={self.key: inputs.ANEW, inputs.AS_OF: 0})

    def furthest(self) -> int:
        """The last transaction that any table is up to, 0 for none."""
        return max(self.position(name) for name in (*derived.TABLES, "held"))

    def close(self) -> None:
        """Forget what was loaded: Spark frees what nothing refers to."""
        self._inputs.clear()

    def merge(
        self,
        name: str,
        stretch: Stretch,
        fresh: DataFrame,
        by: str,
        merge: day_partitions.Merge,
        *,
        position: dict[str, int] | None = None,
    ) -> int:
        """Put what was found into the days that it is of, or their hours."""
        table, now = self.table(name), self.table(name).read()
        new = checkpoints.local(day_partitions.dated(self.shaped(name, fresh), by))
        begun = self.has_begun(now)
        hours = day_partitions.hours(new, by)
        if not hours:
            return self.leave(name, position or self.at(stretch))
        touched = day_partitions.of_hours(now, hours, by) if begun else []
        old = day_partitions.dated(spark_files.read(self.spark, table, derived.TABLES[name], touched), by)
        return day_partitions.put(
            table,
            merge(old, new) if touched else new,
            base=now,
            removed=touched if begun else now.files,
            order=[by],
            position=position or self.at(stretch),
            large=day_partitions.large(hours, day_partitions.of_days(now, hours) if begun else ()),
        )

    def leave(self, name: str, position: dict[str, int]) -> int:
        """Move a table on of which nothing was told anew: no row of it is read or written."""
        table, now = self.table(name), self.table(name).read()
        table.replace(now, () if self.has_begun(now) else now.files, (), positions=position)
        return 0

    def of(self, name: str, stretch: Stretch) -> Inputs:
        since = self.position(name)
        if since not in self._inputs:
            self._inputs[since] = Inputs(self.spark, self._directory, since, stretch, source=self._source)
        return self._inputs[since]

    def open(self, name: str, since_ms: float = math.inf) -> DataFrame:
        """The rows of a table that is gone on with which have not ended, or ended at an instant (epoch ms) or
        later."""
        now = self.table(name).read()
        files = now.files if self.has_begun(now) else ()
        lasts = F.col("to_ms").isNull() | (F.col("to_ms") >= since_ms)
        return self._read(name, day_partitions.lasting(files, since_ms)).where(lasts)

    def read(self, name: str) -> DataFrame:
        return self._read(name, self.table(name).read().files)

    def lasting(self, name: str, since_ms: int) -> DataFrame:
        """A table of intervals, without some that ended before an instant (epoch ms)."""
        return self._read(name, day_partitions.lasting(self.table(name).read().files, since_ms))

    def later(self, name: str, first: date) -> DataFrame:
        """The rows of a day and of those that follow it."""
        files = self.table(name).read().files
        return self._read(name, [file for file in files if file.partition[DAY] >= str(first)])

    def _read(self, name: str, listed: Iterable[File]) -> DataFrame:
        return spark_files.read(self.spark, self.table(name), derived.TABLES[name], listed)

    def shaped(self, name: str, rows: DataFrame) -> DataFrame:
        return rows.select(*derived.TABLES[name].names)

    def table(self, name: str) -> Table:
        return Table(self._directory / name)

    def position(self, name: str) -> int:
        return inputs.position(self.table(name).read(), self._source)

    def at(self, stretch: Stretch) -> dict[str, int]:
        return {self.key: stretch.last}
