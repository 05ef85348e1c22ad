"""The whole of one cluster at one revision: immutable, so that a page reads from one moment.

Knows what the typed values mean together. Knows nothing of sockets, Django, threads or the clock.
"""

from __future__ import annotations

from collections.abc import KeysView, Mapping
from typing import Generic, TypeVar

import immutables
import msgspec

from zkdash.cluster.model.brokers.load import Load
from zkdash.cluster.model.groups import Group, GroupSummary
from zkdash.cluster.model.ranking import Ranking
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.topics import Topic, TopicSummary
from zkdash.cluster.model.violations import ViolationsByCheck
from zkdash.kafka.values import (
    Broker,
    ClusterId,
    Controller,
    Election,
    EntityConfig,
    Features,
    Layout,
    Migration,
    Notification,
    Problem,
    ProducerIds,
    Reassignment,
    ResourceAcl,
    Token,
    Unparsable,
)
from zkdash.znode import Unreadable, Znode

T = TypeVar("T")


class Seen(msgspec.Struct, Generic[T], frozen=True):
    """A typed znode: its value beside the znode that it was read from (None where it was unreadable)."""

    value: T | Unparsable | Unreadable
    znode: Znode | None


class Counts(msgspec.Struct, frozen=True):
    """Sums over the cluster, kept incrementally; the fields mean what TopicSummary's and GroupSummary's do.

    Topics marked for deletion count in `topics` and `partitions` only, as no check looks at them.
    `topics_07` and `topics_08` count topics by layout, a mixed one in both. `severities` counts topics by
    status, in the order of Severity, `group_severities` groups. `critical_problems` are those with ids,
    topics, states and consumer ids.
    """

    topics: int = 0
    partitions: int = 0
    under_replicated: int = 0
    offline: int = 0
    leader_dead: int = 0
    stateless: int = 0
    unparsable: int = 0
    preferred: int = 0
    preferable: int = 0
    topics_07: int = 0
    topics_08: int = 0
    severities: tuple[int, ...] = (0,) * len(Severity)
    group_severities: tuple[int, ...] = (0,) * len(Severity)
    groups: int = 0
    owned: int = 0
    unowned: int = 0
    problems: int = 0
    critical_problems: int = 0


class ClusterState(msgspec.Struct, frozen=True):
    """What ZooKeeper holds of one Kafka cluster, as of transaction `zxid`.

    A singleton znode is None where it is absent. `topics`, `groups`, `brokers` and `problems` are
    persistent maps: a new state shares everything that did not change. `loaded` is False until the
    first whole batch. `deletion_znodes` are the children of /admin/delete_topics by topic.

    `configs` are those of clients, users, brokers and addresses by their path below /config ("users/u"): the
    topics keep their own. `notifications` and `acls` are by path, `tokens` by id. `producer_ids` holds None
    where no block was given out yet. The znode of `seqid` matters for its version alone. `refused` are the
    directories that may not be read, by path: of what is below them nothing is known.

    `remnants` are topics without their own znode, of which only a config or states are left: no topics.
    `targets` are the entries of `reassignment` by topic and partition. `consumers` names the groups that
    have owners or offsets on a topic or subscribe to it by name, whether the topic exists or not.
    `unowned` holds the groups with partitions that lack an owner, and how many. `ranking` holds the topics by
    status, worst first, then by how many partitions make it so, then by name, `group_ranking` the groups.
    `loads` tells what each broker carries, and of no broker that carries nothing. `blames` holds what the
    checks that judge one thing at a time found, by their ids.
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
    group_summaries: immutables.Map[str, GroupSummary] = immutables.Map()
    problems: immutables.Map[str, Problem] = immutables.Map()
    controller: Seen[Controller] | None = None
    controller_epoch: Seen[int] | None = None
    cluster_id: Seen[ClusterId] | None = None
    reassignment: Seen[Reassignment] | None = None
    election: Seen[Election] | None = None
    deletion_znodes: immutables.Map[str, Znode | Unreadable] = immutables.Map()
    counts: Counts = Counts()
    remnants: immutables.Map[str, Topic] = immutables.Map()
    targets: Mapping[str, Mapping[int, tuple[int, ...]]] = {}
    consumers: immutables.Map[str, frozenset[str]] = immutables.Map()
    unowned: immutables.Map[str, int] = immutables.Map()
    ranking: Ranking = Ranking()
    group_ranking: Ranking = Ranking()
    loads: immutables.Map[int, Load] = immutables.Map()
    configs: immutables.Map[str, Seen[EntityConfig]] = immutables.Map()
    notifications: immutables.Map[str, Seen[Notification]] = immutables.Map()
    acls: immutables.Map[str, Seen[ResourceAcl]] = immutables.Map()
    tokens: immutables.Map[str, Seen[Token]] = immutables.Map()
    feature: Seen[Features] | None = None
    migration: Seen[Migration] | None = None
    producer_ids: Seen[ProducerIds | None] | None = None
    seqid: Znode | Unreadable | None = None
    refused: immutables.Map[str, Unreadable] = immutables.Map()
    blames: ViolationsByCheck = immutables.Map()

    @property
    def deletions(self) -> KeysView[str]:
        """The topics that are marked for deletion."""
        return KeysView(self.deletion_znodes)
