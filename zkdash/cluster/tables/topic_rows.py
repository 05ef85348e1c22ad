"""What tables show of topics and their partitions.

A value that is not to be had is what the state knows instead of it: None (absent), Unparsable or
Unreadable, each with its reason.
"""

from __future__ import annotations

from collections.abc import Container

import msgspec

from zkdash.cluster.model import summary
from zkdash.cluster.model.brokers.lags import NONE as NO_LAGS
from zkdash.cluster.model.brokers.lags import Lags, TopicConsumers
from zkdash.cluster.model.known import Known, percent
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic, TopicSummary
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment, PartitionState, Unparsable
from zkdash.znode import Unreadable, Znode

_UNASSIGNED = Unparsable("the topic has partitions, but no assignment in its znode")


class TopicRow(msgspec.Struct, frozen=True, gc=False):
    """One topic of a state: its numbers, and what is known where there is no number; with its groups' lags.

    It holds nothing of its own, so that one may be made of each topic that is looked at.
    """

    state: ClusterState
    summary: TopicSummary
    lags: Lags = NO_LAGS

    @property
    def consumers(self) -> TopicConsumers | None:
        """The groups that committed an offset of it, None where none is known to."""
        return self.lags.topics.get(self.summary.name)

    @property
    def partitions(self) -> Known[int]:
        return _uncounted(self._topic) if self.summary.partitions is None else self.summary.partitions

    @property
    def replication(self) -> Known[tuple[int, int]]:
        """(smallest, largest) number of replicas of a partition."""
        if self.summary.replication is not None:
            return self.summary.replication
        assignment = self._topic.assignment
        return None if isinstance(assignment, Assignment) else assignment

    @property
    def overrides(self) -> Known[int]:
        """How many settings differ from the brokers' defaults."""
        config = self._topic.config if self.summary.overrides is None else None
        return config if isinstance(config, Unparsable | Unreadable) else self.summary.overrides

    @property
    def preferred_percent(self) -> float | None:
        """The share of `preferred` in `preferable`, rounded down to a tenth; None of none."""
        return percent(self.summary.preferred, self.summary.preferable)

    @property
    def groups(self) -> int:
        """How many groups consume it by what ZooKeeper holds."""
        return len(self.state.consumers.get(self.summary.name, ()))

    @property
    def marks(self) -> tuple[str, ...]:
        marks = {"deleting": self.summary.deleting, "reassigning": self.summary.moving > 0}
        return tuple(word for word, holds in marks.items() if holds)

    @property
    def _topic(self) -> Topic:
        return self.state.topics[self.summary.name]


class PartitionRow(msgspec.Struct, frozen=True):
    """One partition of a 0.8+ topic.

    `leader`, `isr` and the epochs are all the same reason where the state is not to be had. `leader` is -1
    where there is none; `leader_live` is None then. `out_of_sync` are the assigned replicas outside the
    ISR, `dead` the brokers among all of these that are not registered. `changed`, `version` and `mzxid`
    are of the state's znode, at `path`.
    """

    status: Severity
    words: str
    partition: int
    leader: Known[int]
    leader_live: bool | None
    replicas: Known[tuple[int, ...]]
    isr: Known[tuple[int, ...]]
    out_of_sync: tuple[int, ...]
    dead: frozenset[int]
    leader_epoch: Known[int]
    controller_epoch: Known[int]
    marks: tuple[str, ...]
    changed: int | None
    path: str
    version: int | None
    mzxid: int | None


class CountRow(msgspec.Struct, frozen=True):
    """What one broker says of a 0.7 topic: it holds `partitions` of it. `live`: the broker is registered."""

    status: Severity
    words: str
    broker: int
    live: bool
    partitions: int | Unparsable | Unreadable
    changed: int | None
    path: str
    version: int | None
    mzxid: int | None


def partition(state: ClusterState, topic: Topic, part: Partition, status: summary.Status) -> PartitionRow:
    """The row of a partition of a topic."""
    severity, words = status
    read = part.state
    is_known = isinstance(read, PartitionState)
    isr = read.isr if isinstance(read, PartitionState) else ()
    leader = read.leader if isinstance(read, PartitionState) else -1
    replicas = part.replicas or ()
    changed, version, mzxid = _stamp(part.znode)
    return PartitionRow(
        status=severity,
        words=words,
        partition=part.id,
        leader=read.leader if isinstance(read, PartitionState) else read,
        leader_live=leader in state.brokers if leader >= 0 else None,
        replicas=part.replicas if part.replicas is not None else unassigned(topic),
        isr=read.isr if isinstance(read, PartitionState) else read,
        out_of_sync=tuple(broker for broker in replicas if broker not in isr) if is_known else (),
        dead=_dead((*replicas, *isr, leader), state.brokers),
        leader_epoch=read.leader_epoch if isinstance(read, PartitionState) else read,
        controller_epoch=read.controller_epoch if isinstance(read, PartitionState) else read,
        marks=("moving",) if part.id in topic.moving else (),
        changed=changed,
        path=paths.state(topic.name, part.id),
        version=version,
        mzxid=mzxid,
    )


def count(
    state: ClusterState, topic: Topic, partition_count: PartitionCount, status: summary.Status
) -> CountRow:
    """The row of a broker of a 0.7 topic."""
    severity, words = status
    changed, version, mzxid = _stamp(partition_count.znode)
    return CountRow(
        status=severity,
        words=words,
        broker=partition_count.broker,
        live=partition_count.broker in state.brokers,
        partitions=partition_count.count,
        changed=changed,
        path=paths.partition_count(topic.name, partition_count.broker),
        version=version,
        mzxid=mzxid,
    )


def _uncounted(topic: Topic) -> Unparsable | Unreadable:
    """Why nobody can say how many partitions a topic has."""
    doubts = [topic.assignment, *(partition_count.count for partition_count in topic.counts)]
    return next((doubt for doubt in doubts if isinstance(doubt, Unparsable | Unreadable)), _UNASSIGNED)


def unassigned(topic: Topic) -> Unparsable | Unreadable | None:
    return topic.assignment if isinstance(topic.assignment, Unparsable | Unreadable) else None


def _dead(brokers: tuple[int, ...], live: Container[int]) -> frozenset[int]:
    return frozenset(broker for broker in brokers if broker >= 0 and broker not in live)


def _stamp(znode: Znode | None) -> tuple[int | None, int | None, int | None]:
    """(mtime, version, mzxid) of a znode that is there to read."""
    return (None, None, None) if znode is None else (znode.mtime, znode.version, znode.mzxid)
