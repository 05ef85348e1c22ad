"""Rows about brokers: of the cluster's brokers, and of what one of them holds."""

from __future__ import annotations

import msgspec

from zkdash.cluster.analysis import kraft, skew
from zkdash.cluster.analysis.skew import Means
from zkdash.cluster.model import summary
from zkdash.cluster.model.brokers.load import NOTHING, Load
from zkdash.cluster.model.known import Known, percent
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic
from zkdash.cluster.tables import topic_rows
from zkdash.kafka import paths
from zkdash.kafka.values import Broker, PartitionState, Unparsable
from zkdash.znode import Unreadable

LEADER, FOLLOWER = "leader", "follower"


class BrokerRow(msgspec.Struct, frozen=True):
    """One broker: what it says of itself (`broker`, None where it is not registered) and what it carries.

    `registered` is the registration's ctime in epoch milliseconds, `session` its signed 64-bit id (0 where
    the znode is not ephemeral), `czxid` what Kafka calls the broker's epoch: None where none is to be read.
    `means` are of all registered brokers. Of one that is gone, `last` is what it said of itself last, as far
    as somebody saw it, and `gone_ms` since when it is gone, in epoch milliseconds.
    """

    status: Severity
    words: str
    id: int
    broker: Known[Broker]
    is_controller: bool
    load: Load
    registered: int | None
    session: int | None
    czxid: int | None
    means: Means = Means()
    last: Broker | None = None
    gone_ms: int | None = None

    @property
    def leaders_over_mean_percent(self) -> int | None:
        """How far its leaders lie over the mean; None where nobody leads, or it is not registered."""
        return self._over_mean(self.load.leaders, self.means.leaders)

    @property
    def replicas_over_mean_percent(self) -> int | None:
        """As `leaders_over_mean_percent`, of replicas."""
        return self._over_mean(self.load.replicas, self.means.replicas)

    @property
    def preferred_led(self) -> int:
        """How many of the partitions that prefer it it leads."""
        return self.load.preferred - self.load.unled

    @property
    def leader_skew_percent(self) -> float | None:
        """How much of what prefers it it does not lead; None where nothing prefers it."""
        return percent(self.load.unled, self.load.preferred)

    @property
    def host_port(self) -> str | None:
        """None where no listener is in plain text, and where the registration is not to be had."""
        return self.broker.host_port if isinstance(self.broker, Broker) else None

    def _over_mean(self, count: int, total: int) -> int | None:
        return None if self.broker is None else skew.over_mean_percent(count, total, self.means.brokers)


class ReplicaRow(msgspec.Struct, frozen=True):
    """One partition of 0.8+ that a broker holds or leads.

    `role` and `in_sync` are the same reason where the state is not to be had, `preferred` where the
    assignment is not.
    """

    status: Severity
    words: str
    topic: str
    partition: int
    role: Known[str]
    in_sync: Known[bool]
    preferred: Known[bool]


class HeldRow(msgspec.Struct, frozen=True):
    """A topic of which a 0.7 broker says that it holds `partitions`."""

    status: Severity
    words: str
    topic: str
    partitions: int | Unparsable | Unreadable
    changed: int | None
    path: str


def ids(state: ClusterState) -> frozenset[int]:
    """The brokers that are registered, lead or are assigned something."""
    return frozenset(state.brokers).union(state.loads)


def broker(state: ClusterState, number: int, means: Means | None = None) -> BrokerRow:
    """The row of a broker that is in `ids`; `means` spares summing up all brokers for each of many rows."""
    seen, load = state.brokers.get(number), state.loads.get(number, NOTHING)
    znode = None if seen is None else seen.znode
    value = None if seen is None else seen.value
    severity, words = _status(value, load)
    return BrokerRow(
        status=severity,
        words=words,
        id=number,
        broker=value,
        is_controller=kraft.controller(state) == number,
        load=load,
        registered=None if znode is None else znode.ctime,
        session=None if znode is None else znode.ephemeral_owner,
        czxid=None if znode is None else znode.czxid,
        means=means or skew.means(state),
    )


def replica(number: int, topic: Topic, partition: Partition, status: Status) -> ReplicaRow:
    """The row of a partition that a broker holds or leads."""
    state, replicas = partition.state, partition.replicas
    severity, words = status
    is_known = isinstance(state, PartitionState)
    return ReplicaRow(
        status=severity,
        words=words,
        topic=topic.name,
        partition=partition.id,
        role=role(number, partition) if is_known else state,  # type: ignore[arg-type]
        in_sync=number in state.isr if isinstance(state, PartitionState) else state,
        preferred=replicas[:1] == (number,) if replicas is not None else topic_rows.unassigned(topic),
    )


def held(topic: Topic, count: PartitionCount, status: Status) -> HeldRow:
    """The row of a topic of 0.7."""
    severity, words = status
    return HeldRow(
        status=severity,
        words=words,
        topic=topic.name,
        partitions=count.count,
        changed=None if count.znode is None else count.znode.mtime,
        path=paths.partition_count(topic.name, count.broker),
    )


def role(number: int, partition: Partition) -> str | None:
    """What the broker is to a partition; None where the state is not to be had."""
    if not isinstance(partition.state, PartitionState):
        return None
    return LEADER if partition.state.leader == number else FOLLOWER


def _status(value: Known[Broker], load: Load) -> Status:
    facts: list[Status] = []
    if value is None:
        facts.append((Severity.CRITICAL, "not registered"))
    elif not isinstance(value, Broker):
        facts.append((Severity.UNKNOWN, "unparsable" if isinstance(value, Unparsable) else "unreadable"))
    if load.under_replicated:
        facts.append((Severity.WARNING, f"{load.under_replicated} under-replicated"))
    return summary.worst(facts)
