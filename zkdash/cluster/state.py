"""The whole of one cluster at one revision: immutable, so that a page reads from one moment.

Knows what the typed values mean together. Knows nothing of sockets, Django, threads or the clock.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import immutables
import msgspec

from zkdash.cluster.groups import Group
from zkdash.cluster.topics import Topic, TopicSummary
from zkdash.kafka.values import (
    Broker,
    ClusterId,
    Controller,
    Election,
    Layout,
    Problem,
    Reassignment,
    Unparsable,
)
from zkdash.znode import Unreadable, Znode

T = TypeVar("T")


class Seen(msgspec.Struct, Generic[T], frozen=True):
    """A typed znode: its value beside the znode that it was read from (None where it was unreadable)."""

    value: T | Unparsable | Unreadable
    znode: Znode | None


class Counts(msgspec.Struct, frozen=True):
    """Sums over the cluster, kept incrementally; the fields mean what TopicSummary's do."""

    topics: int = 0
    partitions: int = 0
    under_replicated: int = 0
    offline: int = 0
    leader_dead: int = 0
    stateless: int = 0
    unparsable: int = 0
    preferred: int = 0
    preferable: int = 0


class ClusterState(msgspec.Struct, frozen=True):
    """What ZooKeeper holds of one Kafka cluster, as of transaction `zxid`.

    A singleton znode is None where it is absent. `topics`, `groups`, `brokers` and `problems` are
    persistent maps: a new state shares everything that did not change. `loaded` is False until the
    first whole batch. `deletions` are the children of /admin/delete_topics.
    """

    revision: int = 0
    zxid: int = 0
    loaded: bool = False
    settling: bool = False
    layout: Layout = Layout.NONE
    brokers: immutables.Map[int, Seen[Broker]] = immutables.Map()
    topics: immutables.Map[str, Topic] = immutables.Map()
    summaries: immutables.Map[str, TopicSummary] = immutables.Map()
    groups: immutables.Map[str, Group] = immutables.Map()
    problems: immutables.Map[str, Problem] = immutables.Map()
    controller: Seen[Controller] | None = None
    controller_epoch: Seen[int] | None = None
    cluster_id: Seen[ClusterId] | None = None
    reassignment: Seen[Reassignment] | None = None
    election: Seen[Election] | None = None
    deletions: frozenset[str] = frozenset()
    counts: Counts = Counts()
