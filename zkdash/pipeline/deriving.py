"""The derived tables, brought up to what was loaded.

Every table keeps how far it is, a zxid, beside its list of files, and moves on with it in one step: a run
that is killed leaves each table whole, and the next one goes on where each of them is. Deriving all at
once or piece by piece gives the same rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.cluster.changes import row
from zkdash.history import compaction, coverage, derived, watching
from zkdash.history.coverage import Stretch
from zkdash.history.manifest import Table
from zkdash.pipeline import dated, inputs
from zkdash.pipeline.inputs import Inputs
from zkdash.pipeline.transforms import brokers, events, groups, partitions, rebalances, timeline, traffic

AS_OF: Final = "as_of_ms"  # in a manifest: the greatest time of the changes that it counts
_DAY: Final = timedelta(days=1)


class Derived(msgspec.Struct, frozen=True):
    """One table, brought up to date: rows written, files it has now, seconds it took."""

    table: str
    rows: int
    files: int
    seconds: float


class Deriving:
    """The tables of one cluster. `tell` hears what is done and how much of it is done (0 to 1)."""

    def __init__(
        self,
        spark: SparkSession,
        directory: Path,
        *,
        tell: Callable[[str, float], None] = lambda _what, _done: None,
        quiet_ms: int = rebalances.QUIET_MS,
    ) -> None:
        self._spark = spark
        self._directory = directory
        self._tell = tell
        self._quiet_ms = quiet_ms
        logged = coverage.stretches(Table(directory / "coverage"))
        self._source = row.LOGGED if logged else row.WATCHED
        self._stretches = logged or self._watched()
        self._inputs: dict[int, Inputs] = {}
        self._made: list[Derived] = []

    @property
    def upto(self) -> int | None:
        """The transaction that the tables will be up to; None where nothing was loaded."""
        return self._stretches[-1].last if self._stretches else None

    def run(self) -> list[Derived]:
        """Derive what is new. Raises manifest.ConflictError where another run derives meanwhile."""
        for stretch in self._stretches:
            if stretch.last > self._position("held"):
                self._derive(stretch)
        self._step("lag_estimates", self._lag)
        return self._made

    def _derive(self, stretch: Stretch) -> None:
        steps: list[tuple[str, Callable[[Stretch], int]]] = [
            ("partition_intervals", self._intervals),
            ("under_replicated_minutes", self._minutes),
            ("leader_churn", self._churn),
            ("controller_epochs", self._epochs),
            ("broker_sessions", self._brokers),
            ("sessions", self._sessions),
            ("hot_paths", self._hot_paths),
            ("offset_rates", self._rates),
            ("timeline", self._timeline),
            ("rebalances", self._rebalances),
            ("idle_groups", self._idle),
        ]
        for number, (name, step) in enumerate(steps):
            self._tell(f"deriving {name}", number / (len(steps) + 1))
            if name == "rebalances" or self._position(name) < stretch.last:
                self._step(name, lambda step=step: step(stretch))  # type: ignore[misc]
        self._hold(stretch)
        for used in self._inputs.values():
            used.close()
        self._inputs.clear()

    def _step(self, name: str, step: Callable[[], int]) -> None:
        began = time.monotonic()
        rows = step()
        files = len(self._table(name).read().files)
        self._made.append(Derived(name, rows, files, round(time.monotonic() - began, 3)))

    # --- tables, each from its position on

    def _intervals(self, stretch: Stretch) -> int:
        name = "partition_intervals"
        found = partitions.partition_intervals(self._of(name, stretch).known, self._open(name))
        return self._merge(name, stretch, found, "from_ms", dated.keyed("topic", "partition", "from_zxid"))

    def _minutes(self, stretch: Stretch) -> int:
        name = "under_replicated_minutes"
        table, now = self._table(name), self._table(name).read()
        facts = self._of(name, stretch).facts
        last = max(facts.last_ms, now.streams.get(AS_OF, 0))
        begun = inputs.key(self._source) in now.streams
        since = min(facts.first_ms or last, now.streams.get(AS_OF, 0)) if begun else 0
        first = _day(since)
        bad = self._read("partition_intervals").where("is_under_replicated OR is_offline")
        start = int(datetime.combine(first, datetime.min.time(), UTC).timestamp() * 1000)
        made = partitions.under_replicated_minutes(bad, start, last)
        removed = [file for file in now.files if not begun or file.partition[dated.DAY] >= str(first)]
        return dated.put(
            table,
            dated.dated(self._shaped(name, made), "minute"),
            base=now,
            removed=removed,
            order=["minute"],
            position=self._at(stretch) | {AS_OF: last},
        )

    def _churn(self, stretch: Stretch) -> int:
        name = "leader_churn"
        found = partitions.leader_churn(self._of(name, stretch).known)
        return self._merge(name, stretch, found, "minute", dated.summed("minute", "topic"))

    def _epochs(self, stretch: Stretch) -> int:
        name = "controller_epochs"
        found = brokers.controller_epochs(self._of(name, stretch).known)
        return self._merge(name, stretch, found, "from_ms", dated.keyed("from_zxid"))

    def _brokers(self, stretch: Stretch) -> int:
        name = "broker_sessions"
        found = brokers.broker_sessions(self._of(name, stretch).known)
        return self._merge(name, stretch, found, "from_ms", dated.keyed("broker", "from_zxid"))

    def _sessions(self, stretch: Stretch) -> int:
        name = "sessions"
        found = traffic.sessions(self._of(name, stretch).changes, self._open(name))
        return self._merge(name, stretch, found, "from_ms", dated.keyed("session"))

    def _hot_paths(self, stretch: Stretch) -> int:
        name = "hot_paths"
        found = traffic.hot_paths(self._of(name, stretch).changes)
        return self._merge(name, stretch, found, "minute", dated.summed("minute", "prefix"))

    def _rates(self, stretch: Stretch) -> int:
        """The rate of a minute needs the sample before it: of the day, or of the day before."""
        name = "offset_rates"
        table, now = self._table(name), self._table(name).read()
        later = dated.dated(groups.samples(self._of(name, stretch).known), "minute").persist()
        touched = dated.days(later)
        begun = inputs.key(self._source) in now.streams
        known = {file.partition[dated.DAY] for file in now.files} if begun else set()
        touched |= {day for day in _moved(touched, 1) if day in known}
        near = touched | _moved(touched, -1)
        earlier = dated.read(self._spark, table, derived.TABLES[name], dated.of_days(now, near & known))
        made = dated.dated(groups.offset_rates(earlier, later.drop(dated.DAY)), "minute")
        rows = dated.put(
            table,
            made.where(F.col(dated.DAY).cast("string").isin(sorted(touched))),
            base=now,
            removed=dated.of_days(now, touched) if begun else now.files,
            order=["group", "topic", "part", "minute"],
            position=self._at(stretch),
        )
        later.unpersist()
        return rows

    def _timeline(self, stretch: Stretch) -> int:
        name = "timeline"
        table, now = self._table(name), self._table(name).read()
        found = timeline.timeline(self._of(name, stretch).known)
        begun = inputs.key(self._source) in now.streams
        rows = dated.put(
            table,
            dated.dated(self._shaped(name, found), "time"),
            base=now,
            removed=() if begun else now.files,
            order=["zxid", "op_index"],
            position=self._at(stretch),
        )
        compaction.compact(table, f"compacted-{time.time_ns()}", now_ms=time.time_ns() // 1_000_000)
        return rows

    def _rebalances(self, stretch: Stretch) -> int:
        """One that may go on holds the position back to where it began."""
        name = "rebalances"
        known = self._of(name, stretch)
        now = self._table(name).read()
        last = max(known.facts.last_ms, now.streams.get(AS_OF, 0))
        if stretch != self._stretches[-1]:
            last += self._quiet_ms + 1  # what a gap of the logs follows is over
        found = rebalances.rebalances(
            known.known,
            self._read("broker_sessions"),
            self._read("timeline"),
            until_ms=last,
            quiet_ms=self._quiet_ms,
        ).persist()
        (begun,) = found.where("to_ms IS NULL").agg(F.min("from_zxid")).collect()
        at = stretch.last if begun[0] is None else begun[0] - 1
        position = {inputs.key(self._source): at, AS_OF: last}
        merge = dated.keyed("group", "from_zxid")
        rows = self._merge(name, stretch, found, "from_ms", merge, position=position)
        found.unpersist()
        return rows

    def _idle(self, stretch: Stretch) -> int:
        name = "idle_groups"
        table, now = self._table(name), self._table(name).read()
        used = self._of(name, stretch)
        begun = inputs.key(self._source) in now.streams
        before = dated.read(self._spark, table, derived.TABLES[name], now.files if begun else ())
        found = groups.idle_groups(used.known, used.there(stretch.last), before)
        return dated.put(
            table,
            self._shaped(name, found),
            base=now,
            removed=now.files,
            order=["group"],
            position=self._at(stretch),
        )

    def _lag(self) -> int:
        """From the day before its last one on: log ends and commits may have come late."""
        name = "lag_estimates"
        table, now = self._table(name), self._table(name).read()
        ends = self._table("log_ends").read()
        if not ends.files:
            return 0
        first = _day(min(file.bounds["time"][0] for file in ends.files))
        if now.files:
            first = max(first, date.fromisoformat(max(f.partition[dated.DAY] for f in now.files)) - _DAY)
        start = int(datetime.combine(first, datetime.min.time(), UTC).timestamp() * 1000)
        listed = [file for file in ends.files if file.bounds["time"][1] >= start]
        sampled = dated.read(self._spark, self._table("log_ends"), derived.TABLES["log_ends"], listed)
        reach = str(first - timedelta(days=groups.LAG_DAYS))
        rated = self._table("offset_rates").read()
        rates = dated.read(
            self._spark,
            self._table("offset_rates"),
            derived.TABLES["offset_rates"],
            [file for file in rated.files if file.partition[dated.DAY] >= reach],
        )
        made = groups.lag_estimates(rates, sampled.where(F.col("time") >= start))
        return dated.put(
            table,
            dated.dated(self._shaped(name, made), "minute"),
            base=now,
            removed=[file for file in now.files if file.partition[dated.DAY] >= str(first)],
            order=["group", "topic", "part", "minute"],
            position={},
        )

    def _hold(self, stretch: Stretch) -> None:
        """Carry what is there on, as far as every table is."""
        at = min(stretch.last, self._position("rebalances"))
        table, now = self._table("held"), self._table("held").read()
        used = self._of("held", stretch)
        if at > used.since or inputs.key(self._source) not in now.streams:
            dated.put(
                table,
                used.there(at).select(*events.HELD.names),
                base=now,
                removed=now.files,
                order=["path"],
                position={inputs.key(self._source): at},
            )

    # --- what they share

    def _merge(
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
        table, now = self._table(name), self._table(name).read()
        new = dated.dated(self._shaped(name, found), by).persist()
        begun = inputs.key(self._source) in now.streams
        touched = dated.of_days(now, dated.days(new)) if begun else []
        old = dated.dated(dated.read(self._spark, table, derived.TABLES[name], touched), by)
        rows = dated.put(
            table,
            merge(old, new) if touched else new,
            base=now,
            removed=touched if begun else now.files,
            order=[by],
            position=position or self._at(stretch),
        )
        new.unpersist()
        return rows

    def _of(self, name: str, stretch: Stretch) -> Inputs:
        since = self._position(name)
        if since not in self._inputs:
            self._inputs[since] = Inputs(self._spark, self._directory, since, stretch, source=self._source)
        return self._inputs[since]

    def _open(self, name: str) -> DataFrame:
        """The rows of a table that have not ended."""
        now = self._table(name).read()
        begun = inputs.key(self._source) in now.streams
        rows = dated.read(self._spark, self._table(name), derived.TABLES[name], now.files if begun else ())
        return rows.where("to_ms IS NULL")

    def _read(self, name: str) -> DataFrame:
        table = self._table(name)
        return dated.read(self._spark, table, derived.TABLES[name], table.read().files)

    def _shaped(self, name: str, rows: DataFrame) -> DataFrame:
        return rows.select(*derived.TABLES[name].names)

    def _table(self, name: str) -> Table:
        return Table(self._directory / name)

    def _position(self, name: str) -> int:
        return inputs.position(self._table(name).read(), self._source)

    def _at(self, stretch: Stretch) -> dict[str, int]:
        return {inputs.key(self._source): stretch.last}

    def _watched(self) -> list[Stretch]:
        """Without logs, what the recorder saw is all there is."""
        return watching.stretches(Table(self._directory / watching.NAME))


def _day(ms: int) -> date:
    return datetime.fromtimestamp(ms / 1000, UTC).date()


def _moved(days: Iterable[str], by: int) -> set[str]:
    return {str(date.fromisoformat(day) + timedelta(days=by)) for day in days}
