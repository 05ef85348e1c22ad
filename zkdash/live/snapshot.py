"""What a page reads: one cluster at one revision, with the session that it came through."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.alarms.open_alarms import EMPTY as EMPTY_ALARMS
from zkdash.alarms.open_alarms import Alarms
from zkdash.broker.samples import Samples
from zkdash.cluster.analysis.migration import Migration
from zkdash.cluster.checks import Finding, Observations
from zkdash.cluster.ensemble.values import UNKNOWN, Ensemble
from zkdash.cluster.incidents import Incidents
from zkdash.cluster.incidents.causes import Cause
from zkdash.cluster.model.brokers.kafka_groups import KafkaGroups
from zkdash.cluster.model.brokers.lags import Lags
from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.orders import Orders
from zkdash.history.queries.density import Density
from zkdash.history.queries.instants import Around
from zkdash.history.queries.neighbours import Instant
from zkdash.live.departures import Departures
from zkdash.live.feed import Feed
from zkdash.live.queue import EMPTY, Queue
from zkdash.live.recent_numbers import Recent
from zkdash.zk.connection.session import Session
from zkdash.zk.reader.acls import Acls
from zkdash.znode import Znode

__all__ = ["ChangedAreas", "Earlier", "Past", "Snapshot"]


class Earlier(msgspec.Struct, frozen=True):
    """The moment that another is compared with, and what the tree meant then. `changed` has the znodes that
    differ by path: as each was and as it is; None where it is not there."""

    state: ClusterState
    instant: Instant
    changed: Mapping[str, tuple[Znode | None, Znode | None]]


class Past(msgspec.Struct, frozen=True):
    """Which moment of the past a snapshot is of, what is recorded around it, how much changed when, and
    what it is compared with."""

    instant: Instant
    around: Around
    density: Density
    earlier: Earlier | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """One cluster as pages see it.

    `revision` counts from 1 in this process and grows with every change of what is shown. `as_of` is the
    epoch second up to which ZooKeeper proved the state true (None before the first load), `stale` is
    True when that is over 3 s ago. `observations` are what the checks saw; `alarms` what the database
    remembers of their findings. `feed` holds the last changes, `incidents` what they were folded into,
    `causes` what is wrong now and why. `first_seen` tells of each
    znode that does not parse the epoch millisecond at which this process first read it so, `restless` of each
    group whose members or owners moved within the last 8 s when they did, `departed` of the brokers that this
    process saw go and that are not back. `samples` is what the brokers told:
    log ends, and offsets that groups keep in Kafka. `migrations` tells of the groups whose commits are asked
    how far these moved there. `queue` holds the actions, in flight and ended. `acls` are those of the znodes
    of `kafka.secured` that exist, empty until they were read (every minute). `ensemble` is what the
    servers of ZooKeeper told of themselves. `storage` says what is wrong with zkdash's own database, "" for
    nothing. `recent` are the cluster's numbers of the last hour, oldest first. `lags` is
    what groups have left to read, counted of `samples` every 2 s at most, `kafka_groups` are those that
    brokers list. `orders` keep, from one snapshot to the next, how tables were sorted. `past` says that it
    is no snapshot of now but one of what was recorded.
    """

    cluster: str
    address: str
    revision: int
    state: ClusterState
    session: Session
    as_of: float | None
    stale: bool
    observations: Observations = Observations()
    alarms: Alarms = EMPTY_ALARMS
    incidents: Incidents = Incidents()
    causes: tuple[Cause, ...] = ()
    first_seen: Mapping[str, int] = {}
    restless: Mapping[str, int] = {}
    departed: Departures = {}
    samples: Samples = Samples()
    migrations: Mapping[str, Migration] = {}
    queue: Queue = EMPTY
    feed: Feed = Feed()
    acls: Acls = {}
    ensemble: Ensemble = UNKNOWN
    storage: str = ""
    recent: Recent = ()
    lags: Lags = Lags()
    kafka_groups: KafkaGroups = KafkaGroups()
    orders: Orders = msgspec.field(default_factory=Orders)
    past: Past | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The raised checks, worst first."""
        return self.observations.findings

    @property
    def leading(self) -> tuple[Finding, ...]:
        """Those of them that nobody took note of."""
        acknowledged = self.alarms.acknowledged
        if not acknowledged:
            return self.findings
        return tuple(finding for finding in self.findings if finding.check not in acknowledged)

    @property
    def passing(self) -> tuple[str, ...]:
        """The ids of the checks that hold nothing against the cluster."""
        return self.observations.passing
