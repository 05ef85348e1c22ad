"""One cluster's watcher: batches become a state, the state's findings and changes become a snapshot.

Everything here runs on the mirror's apply thread; readers only ever see whole snapshots.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from zkdash.broker.samples import Samples
from zkdash.cluster import changes, checks, incidents
from zkdash.cluster.checks.facts import NONE as NO_FACTS
from zkdash.cluster.checks.facts import Facts
from zkdash.cluster.incidents.causes import causes
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.live import departures, pollers, runs, snapshot_registry
from zkdash.live.pollers import Pollers
from zkdash.live.snapshot import ChangedAreas, Snapshot
from zkdash.live.tree import znodes
from zkdash.live.watching import (
    ensemble_watch,
    first_seen,
    migrations,
    rebalancing,
    recent_numbers,
    sampling,
)
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.session import Phase, Session
from zkdash.zk.mirror import mirror
from zkdash.zk.reader import znode_reader
from zkdash.zk.wire.side_requests import SideRequests
from zkdash.znode import Batch, Unreadable, Znode

log = logging.getLogger(__name__)

Notify = Callable[[str, int, ChangedAreas], None]


class Source(Protocol):
    """What a watcher asks of its mirror."""

    @property
    def aside(self) -> SideRequests: ...

    @property
    def proved_at(self) -> float | None: ...

    @property
    def session(self) -> Session: ...

    @property
    def znodes(self) -> Mapping[str, Znode | Unreadable]: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Sink(Protocol):
    """Who hears of everything that a watcher does, on its apply thread: it must neither wait nor raise."""

    def batch(self, batch: Batch) -> None:
        """Take what changed."""

    def tick(self, samples: Samples, proved_at: float | None) -> None:
        """Take, once a second, what brokers said last, and up to when (epoch s) all batches have come."""


class Watcher:
    """Keeps the board's snapshot of one cluster equal to what ZooKeeper holds."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        notify: Notify,
        thresholds: checks.Thresholds | None = None,
        sinks: Sequence[Sink] = (),
        polled: Pollers = pollers.NONE,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._name = config.name
        self._notify = notify
        self._sinks = sinks
        self._polled = polled
        self._wall = wall
        self._state = ClusterState()
        self._first_seen = first_seen.Sightings()
        self._facts = NO_FACTS
        self._sampling = sampling.Sampling(
            config.name,
            asks=config.ask_brokers,
            samples_lag=config.sample_lag,
            security=config.brokers,
        )
        self._snapshot = Snapshot(
            cluster=config.name,
            address=config.address,
            revision=1,
            state=self._state,
            session=Session(),
            as_of=None,
            stale=True,
            observations=checks.Observations(thresholds=thresholds or checks.Thresholds()),
            lags=self._sampling.lags,
        )
        self._migrations = migrations.Migrations()
        self._recent = recent_numbers.RecentNumbers()
        self._runs = runs.EMPTY
        snapshot_registry.publish(self._name, self._snapshot)
        snapshot_registry.appoint(self._name, self._sampling)
        self._mirror: Source = mirror.Mirror(config, roots=paths.ROOTS, sink=self)
        self._surveying = ensemble_watch.Surveying(config, self._mirror.aside)
        snapshot_registry.appoint_surveyor(self._name, self._surveying)
        visitor = znode_reader.ZnodeReader(self._mirror.aside, config.chroot)
        self._znodes = znodes.Znodes(lambda: self._mirror.znodes, visitor)
        snapshot_registry.lend(self._name, self._znodes)

    def start(self) -> None:
        self._sampling.start()
        self._mirror.start()
        self._surveying.start()

    @property
    def is_settled(self) -> bool:
        """Whether the first load is done, or it was said why there is none yet."""
        return self._snapshot.state.loaded or bool(self._snapshot.session.sentence)

    def stop(self) -> None:
        self._mirror.stop()
        self._surveying.stop()
        self._sampling.stop()
        self._znodes.close()

    # The mirror's sink, called on its apply thread.

    def batch(self, batch: Batch) -> None:
        """Take one whole batch in and publish the state that it makes."""
        now = self._wall()
        for sink in self._sinks:
            sink.batch(batch)
        before = self._state
        after, touched = advance.advance(before, batch)
        self._state = after
        self._sampling.tell(after)
        touched |= self._znodes.batch(batch)
        feed, story = self._snapshot.feed, self._snapshot.incidents
        if not before.loaded and after.loaded:
            feed = feed.loaded(batch.zxid)
        if before.loaded:
            news = changes.of_batch(before, after, batch, now_ms=int(now * 1000))
            self._recent.leaders_changed(changes.count_changed_leaders(before, after, batch))
            feed = feed.told(batch.zxid, news)
            if news:
                story = incidents.fold(story, incidents.in_order(news))
                touched |= ChangedAreas(frozenset({"changes"}))
        if "problems" in touched.areas:
            self._first_seen = first_seen.look(
                self._first_seen, batch.changed, after.problems, int(now * 1000)
            )
        restless = self._unrest(before, after, touched, int(now * 1000))
        departed = departures.look(self._snapshot.departed, before, after, int(now * 1000))
        self._publish(
            touched,
            now,
            state=after,
            first_seen=self._first_seen,
            restless=restless,
            departed=departed,
            feed=feed,
            incidents=story,
        )

    def session(self, session: Session) -> None:
        """Publish what became of the connection."""
        if session != self._snapshot.session:
            self._publish(ChangedAreas(frozenset({"session"})), self._wall(), session=session)

    def tick(self, now: float) -> None:
        """Once a second: what depends on the clock comes due here."""
        samples = self._sampling.samples
        for sink in self._sinks:
            sink.tick(samples, self._mirror.proved_at)
        judged = self._migrations.look(self._state, samples, int(now * 1000))
        touched = self._sampling.moved() | self._news(judged) | self._znodes.tick()
        actions = self._polled.queue.current(self._name)
        if actions is not self._snapshot.queue:
            touched |= ChangedAreas(frozenset({"actions"}))
        runs_before, self._runs = self._runs, self._polled.runs.current(self._name)
        if runs_before is not self._runs:
            touched |= ChangedAreas(frozenset({"runs"}))
        known_alarms = self._polled.alarms.current(self._name)
        if known_alarms is not self._snapshot.alarms:
            touched |= ChangedAreas(frozenset({"findings"}))
        acls, ensemble = self._surveying.acls, self._surveying.ensemble()
        if ensemble is not self._snapshot.ensemble:
            touched |= ChangedAreas(frozenset({"ensemble"}))
        if acls != self._snapshot.acls:
            touched |= ChangedAreas(frozenset({"acls"}))
        trouble = self._polled.database.trouble()
        if trouble != self._snapshot.storage:
            touched |= ChangedAreas(frozenset({"session"}))
        lags = self._sampling.lags
        kafka_groups = self._sampling.kafka_groups(self._state.group_summaries)
        if lags is not self._snapshot.lags or kafka_groups != self._snapshot.kafka_groups:
            touched |= ChangedAreas(frozenset({"lags"}))
        recent = self._recent.look(self._state, self._mirror.session, lags.total, now, ensemble.look)
        if recent is not self._snapshot.recent:
            touched |= ChangedAreas(frozenset({"recent"}))
        self._publish(
            touched,
            now,
            samples=samples,
            lags=lags,
            kafka_groups=kafka_groups,
            recent=recent,
            migrations=judged,
            queue=actions,
            acls=acls,
            alarms=known_alarms,
            ensemble=ensemble,
            storage=trouble,
        )

    def _publish(self, touched: ChangedAreas, now: float, **fields: object) -> None:
        """Swap the snapshot; a new revision only where something shown has changed."""
        before = self._snapshot
        snapshot = msgspec.structs.replace(before, **fields)
        story = incidents.expire(snapshot.incidents, int(now * 1000))
        as_of = self._as_of(snapshot)
        stale = snapshot_registry.is_stale(as_of, now)
        if stale != before.stale:
            touched |= ChangedAreas(frozenset({"session"}))
        if snapshot.acls is not before.acls:
            self._facts = Facts(snapshot.acls or None)
        observations = checks.observe(before.observations, snapshot.state, now, self._facts, touched)
        if (
            observations.findings != before.findings
            or observations.passing != before.passing
            or observations.standing is not before.observations.standing
        ):
            touched |= ChangedAreas(frozenset({"findings"}))
        causing = causes(snapshot.state, story, observations.findings, int(now * 1000))
        if causing != before.causes:
            touched |= ChangedAreas(frozenset({"findings"}))
        if story is not before.incidents:
            touched |= ChangedAreas(frozenset({"changes"}))
        restless = rebalancing.settle(snapshot.restless, int(now * 1000))
        if restless is not snapshot.restless:
            touched |= ChangedAreas(
                frozenset({"groups"}), groups=frozenset(snapshot.restless) - restless.keys()
            )
        moved = bool(touched.areas or touched.everything)
        revision = before.revision + moved
        self._snapshot = msgspec.structs.replace(
            snapshot,
            revision=revision,
            state=msgspec.structs.replace(snapshot.state, revision=revision) if moved else snapshot.state,
            as_of=as_of,
            stale=stale,
            observations=observations,
            restless=restless,
            incidents=story,
            causes=causing,
        )
        snapshot_registry.publish(self._name, self._snapshot)
        if moved:
            self._notify(self._name, revision, touched)

    def _unrest(
        self, before: ClusterState, after: ClusterState, touched: ChangedAreas, now_ms: int
    ) -> rebalancing.Moves:
        """Which groups have just moved."""
        if not before.loaded:
            return rebalancing.begin(after, now_ms) if after.loaded else {}
        return rebalancing.look(self._snapshot.restless, before, after, touched.groups, now_ms)

    def _news(self, judged: migrations.Judged) -> ChangedAreas:
        """The groups of whose migration something else is known now."""
        before = self._snapshot.migrations
        names = frozenset(name for name in {*before, *judged} if before.get(name) != judged.get(name))
        return ChangedAreas(frozenset({"samples"}), groups=names) if names else ChangedAreas()

    def _as_of(self, snapshot: Snapshot) -> float | None:
        """The last proof while watches stand: what a catch-up has not reached yet stays as old as it was."""
        if snapshot.state.loaded and snapshot.session.phase is Phase.LIVE:
            return self._mirror.proved_at or snapshot.as_of
        return snapshot.as_of
