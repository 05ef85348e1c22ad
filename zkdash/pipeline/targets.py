"""The derived tables of a cluster that are brought up to date, and what was loaded for them."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from zkdash.history import derived
from zkdash.history.coverage import Stretch
from zkdash.history.manifest import Table
from zkdash.pipeline import dated, inputs
from zkdash.pipeline.inputs import Inputs


class Targets:
    """`source` says whose changes they are derived from, those of logs or of a watcher."""

    def __init__(self, spark: SparkSession, directory: Path, source: str) -> None:
        self.spark = spark
        self.key = inputs.key(source)
        self._directory = directory
        self._source = source
        self._inputs: dict[int, Inputs] = {}

    def close(self) -> None:
        """Forget what was loaded."""
        for used in self._inputs.values():
            used.close()
        self._inputs.clear()

    def merge(
        self,
        name: str,
        stretch: Stretch,
        found: DataFrame,
        by: str,
        merge: dated.Merge,
        *,
        position: dict[str, int] | None = None,
    ) -> int:
        """Put what was found into the days that it is of."""
        table, now = self.table(name), self.table(name).read()
        new = dated.dated(self.shaped(name, found), by).persist()
        begun = self.key in now.streams
        touched = dated.of_days(now, dated.days(new)) if begun else []
        old = dated.dated(dated.read(self.spark, table, derived.TABLES[name], touched), by)
        rows = dated.put(
            table,
            merge(old, new) if touched else new,
            base=now,
            removed=touched if begun else now.files,
            order=[by],
            position=position or self.at(stretch),
        )
        new.unpersist()
        return rows

    def of(self, name: str, stretch: Stretch) -> Inputs:
        since = self.position(name)
        if since not in self._inputs:
            self._inputs[since] = Inputs(self.spark, self._directory, since, stretch, source=self._source)
        return self._inputs[since]

    def open(self, name: str) -> DataFrame:
        """The rows of a table that have not ended."""
        now = self.table(name).read()
        begun = self.key in now.streams
        rows = dated.read(self.spark, self.table(name), derived.TABLES[name], now.files if begun else ())
        return rows.where("to_ms IS NULL")

    def read(self, name: str) -> DataFrame:
        table = self.table(name)
        return dated.read(self.spark, table, derived.TABLES[name], table.read().files)

    def shaped(self, name: str, rows: DataFrame) -> DataFrame:
        return rows.select(*derived.TABLES[name].names)

    def table(self, name: str) -> Table:
        return Table(self._directory / name)

    def position(self, name: str) -> int:
        return inputs.position(self.table(name).read(), self._source)

    def at(self, stretch: Stretch) -> dict[str, int]:
        return {self.key: stretch.last}
