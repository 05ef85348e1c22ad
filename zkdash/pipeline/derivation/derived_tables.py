"""The derived tables, brought up to what was loaded.

Every table keeps how far it is, a zxid, in the log that lists its files, and moves on in one commit: a run
that is killed leaves each table whole, and the next one goes on where each of them is. Deriving all at
once or piece by piece gives the same rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import msgspec
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.cluster.changes import row
from zkdash.history.places.location import Location
from zkdash.history.store import coverage, derived, schemas, watching
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import DAY, Table
from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline import checkpoints
from zkdash.pipeline.derivation import basis, covered_times, offset_tables
from zkdash.pipeline.derivation.inputs import AS_OF
from zkdash.pipeline.derivation.targets import Targets
from zkdash.pipeline.storage import day_partitions, spark_files
from zkdash.pipeline.transforms import (
    brokers,
    change_descriptions,
    groups,
    partitions,
    rebalances,
    timeline,
    traffic,
)


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
        directory: Location,
        *,
        tell: Callable[[str, float], None] = lambda _what, _done: None,
        quiet_ms: int = rebalances.QUIET_MS,
    ) -> None:
        self._directory = directory
        self._tell = tell
        self._quiet_ms = quiet_ms
        self._basis = basis.now(directory)
        logged = coverage.joined((each.first, each.last) for each in self._basis)
        # Without logs, what the recorder saw is all there is.
        self._stretches = logged or watching.stretches(Table(directory / watching.NAME))
        self._targets = Targets(spark, directory, row.LOGGED if logged else row.WATCHED)
        self._made: list[Derived] = []

    @property
    def upto(self) -> int | None:
        """The transaction that the tables will be up to; None where nothing was loaded."""
        return self._stretches[-1].last if self._stretches else None

    def run(self) -> list[Derived]:
        """Derive what is new. Raises delta.ConflictError where another run derives meanwhile."""
        if self._basis:
            self._meet_what_is_late()
        for stretch in self._stretches:
            if stretch.last > self._targets.position("held"):
                self._derive(stretch)
        self._step("lag_estimates", lambda: offset_tables.lag(self._targets))
        for stretch in self._stretches:  # those that an earlier release derived
            if stretch.last > self._targets.position(covered_times.NAME):
                self._step(covered_times.NAME, lambda stretch=stretch: self._covered(stretch))  # type: ignore[misc]
                self._targets.close()
        return self._made

    def _meet_what_is_late(self) -> None:
        """Begin anew where something came late, and note what will be derived from.

        A run that is killed before it has noted that begins anew once more.
        """
        before = basis.recorded(self._directory)
        if before is not None and basis.late(before, self._basis, self._targets.furthest()) is not None:
            self._targets.begin_anew()
        if self._basis != before:
            basis.record(self._directory, self._basis)

    def _derive(self, stretch: Stretch) -> None:
        steps: list[tuple[str, Callable[[Stretch], int], tuple[Kind, ...]]] = [
            ("partition_intervals", self._intervals, partitions.INTERVALS_OF),
            ("under_replicated_minutes", self._minutes, ()),
            ("leader_churn", self._churn, partitions.CHURN_OF),
            ("controller_epochs", self._epochs, brokers.EPOCHS_OF),
            ("broker_sessions", self._brokers, brokers.SESSIONS_OF),
            ("sessions", self._sessions, ()),
            ("hot_paths", self._hot_paths, ()),
            ("offset_rates", lambda stretch: offset_tables.rates(self._targets, stretch), groups.RATES_OF),
            ("timeline", self._timeline, change_descriptions.KINDS),
            ("rebalances", self._rebalances, ()),
            ("idle_groups", self._idle, groups.IDLE_OF),
            (covered_times.NAME, self._covered, ()),
        ]
        for number, (name, step, kinds) in enumerate(steps):
            self._tell(f"deriving {name}", number / (len(steps) + 1))
            if name == "rebalances" or self._targets.position(name) < stretch.last:
                self._step(name, partial(self._moved_on, name, stretch, step, kinds))
        self._hold(stretch)
        self._targets.close()

    def _moved_on(
        self, name: str, stretch: Stretch, step: Callable[[Stretch], int], kinds: tuple[Kind, ...]
    ) -> int:
        """A table of what happens to some kinds of znodes stays as it is where nothing happened to any.

        The queries that would find that out cost more than all else of a run that tells of little.
        """
        if kinds and not self._targets.of(name, stretch).tell_of(kinds):
            return self._targets.leave(name, self._targets.at(stretch))
        return step(stretch)

    def _step(self, name: str, step: Callable[[], int]) -> None:
        began = time.monotonic()
        rows = step()
        files = len(self._targets.table(name).read().files)
        self._made.append(Derived(name, rows, files, round(time.monotonic() - began, 3)))

    # --- tables, each from its position on

    def _intervals(self, stretch: Stretch) -> int:
        name = "partition_intervals"
        derived = partitions.partition_intervals(
            self._targets.of(name, stretch).events, self._targets.open(name)
        )
        return self._targets.merge(
            name, stretch, derived, "from_ms", day_partitions.keyed("topic", "partition", "from_zxid")
        )

    def _minutes(self, stretch: Stretch) -> int:
        name = "under_replicated_minutes"
        table, now = self._targets.table(name), self._targets.table(name).read()
        facts = self._targets.of(name, stretch).facts
        last = max(facts.last_ms, (now.position(AS_OF) or 0))
        begun = self._targets.has_begun(now)
        since = min(facts.first_ms or last, (now.position(AS_OF) or 0)) if begun else 0
        first = day_partitions.day(since)
        start = day_partitions.begin(first)
        lasting = self._targets.lasting("partition_intervals", start)
        bad = checkpoints.local(lasting.where("is_under_replicated OR is_offline"))
        removed = [file for file in now.files if not begun or file.partition[DAY] >= str(first)]
        position = self._targets.at(stretch) | {AS_OF: last}
        if bad.isEmpty():  # as nearly always
            table.replace(now, removed, (), positions=position)
            return 0
        made = partitions.under_replicated_minutes(bad, start, last)
        return day_partitions.put(
            table,
            day_partitions.dated(self._targets.shaped(name, made), "minute"),
            base=now,
            removed=removed,
            order=["minute"],
            position=position,
        )

    def _churn(self, stretch: Stretch) -> int:
        name = "leader_churn"
        derived = partitions.leader_churn(self._targets.of(name, stretch).events)
        return self._targets.merge(name, stretch, derived, "minute", day_partitions.summed("minute", "topic"))

    def _epochs(self, stretch: Stretch) -> int:
        name = "controller_epochs"
        derived = brokers.controller_epochs(self._targets.of(name, stretch).events)
        return self._targets.merge(name, stretch, derived, "from_ms", day_partitions.keyed("from_zxid"))

    def _brokers(self, stretch: Stretch) -> int:
        name = "broker_sessions"
        derived = brokers.broker_sessions(self._targets.of(name, stretch).events)
        return self._targets.merge(
            name, stretch, derived, "from_ms", day_partitions.keyed("broker", "from_zxid")
        )

    def _sessions(self, stretch: Stretch) -> int:
        name = "sessions"
        used = self._targets.of(name, stretch)
        derived = traffic.sessions(used.changes, self._targets.open(name, used.first_ms))
        return self._targets.merge(name, stretch, derived, "from_ms", day_partitions.keyed("session"))

    def _hot_paths(self, stretch: Stretch) -> int:
        name = "hot_paths"
        derived = traffic.hot_paths(self._targets.of(name, stretch).changes)
        return self._targets.merge(
            name, stretch, derived, "minute", day_partitions.summed("minute", "prefix")
        )

    def _timeline(self, stretch: Stretch) -> int:
        name = "timeline"
        table, now = self._targets.table(name), self._targets.table(name).read()
        derived = timeline.timeline(self._targets.of(name, stretch).events)
        begun = self._targets.has_begun(now)
        rows = day_partitions.put(
            table,
            day_partitions.dated(self._targets.shaped(name, derived), "time"),
            base=now,
            removed=() if begun else now.files,
            order=["zxid", "op_index"],
            position=self._targets.at(stretch),
        )
        table.compact()
        return rows

    def _rebalances(self, stretch: Stretch) -> int:
        """One that may go on holds the position back to where it began."""
        name = "rebalances"
        inputs = self._targets.of(name, stretch)
        now = self._targets.table(name).read()
        last = max(inputs.facts.last_ms, (now.position(AS_OF) or 0))
        if stretch != self._stretches[-1]:
            last += self._quiet_ms + 1  # what a gap of the logs follows is over
        if not inputs.tell_of(rebalances.KINDS):
            return self._targets.leave(name, self._targets.at(stretch) | {AS_OF: last})
        near = inputs.first_ms - self._quiet_ms
        derived = checkpoints.local(
            rebalances.rebalances(
                inputs.events,
                self._targets.lasting("broker_sessions", near),
                self._targets.later("timeline", day_partitions.day(near)),
                until_ms=last,
                quiet_ms=self._quiet_ms,
            )
        )
        (begun,) = derived.where("to_ms IS NULL").agg(F.min("from_zxid")).collect()
        at = stretch.last if begun[0] is None else begun[0] - 1
        position = {self._targets.key: at, AS_OF: last}
        merge = day_partitions.keyed("group", "from_zxid")
        return self._targets.merge(name, stretch, derived, "from_ms", merge, position=position)

    def _idle(self, stretch: Stretch) -> int:
        name = "idle_groups"
        table, now = self._targets.table(name), self._targets.table(name).read()
        used = self._targets.of(name, stretch)
        begun = self._targets.has_begun(now)
        before = spark_files.read(
            self._targets.spark, table, derived.TABLES[name], now.files if begun else ()
        )
        idle = groups.idle_groups(used.events, used.there(stretch.last), before)
        return day_partitions.put(
            table,
            self._targets.shaped(name, idle),
            base=now,
            removed=now.files,
            order=["group"],
            position=self._targets.at(stretch),
        )

    def _covered(self, stretch: Stretch) -> int:
        return covered_times.add(self._targets, stretch, are_logged=bool(self._basis))

    def _hold(self, stretch: Stretch) -> None:
        """Carry what is there on, as far as every table is."""
        at = min(stretch.last, self._targets.position("rebalances"))
        table, now = self._targets.table("held"), self._targets.table("held").read()
        used = self._targets.of("held", stretch)
        if at > used.since or not self._targets.has_begun(now):
            day_partitions.put(
                table,
                used.there(at).select(*schemas.HELD.names),
                base=now,
                removed=now.files,
                order=["path"],
                position={self._targets.key: at},
            )
