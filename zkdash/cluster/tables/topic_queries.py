"""Which rows of a table are shown: filter, sort and page, from the state alone.

The default page comes straight from what the state keeps sorted, so that its cost does not depend on the
cluster's size; a filter or a sort looks at every row once. Rows are made only of what is shown.
"""

from __future__ import annotations

from collections.abc import Callable

from zkdash.cluster.model import summary
from zkdash.cluster.model.known import percent
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic, TopicSummary
from zkdash.cluster.tables import filters, topic_rows
from zkdash.cluster.tables.query import SIZES, STATUSES, Keys, Query, Selection, choose, first, with_rows
from zkdash.cluster.tables.topic_rows import CountRow, PartitionRow, TopicRow
from zkdash.kafka.values import Layout, PartitionState

__all__ = [
    "COUNT_SORTS",
    "PARTITION_SORTS",
    "SIZES",
    "STATUSES",
    "Query",
    "Selection",
    "select_counts",
    "select_partitions",
    "select_topics",
    "topic_columns",
]

Judged = tuple[Partition, Status]
Held = tuple[PartitionCount, Status]

# By the names that the rows have.
_TOPIC_KEYS: Keys[tuple[ClusterState, TopicSummary]] = {
    "status": lambda one: one[1].tone.rank,
    "name": lambda one: one[1].name,
    "partitions": lambda one: one[1].partitions,
    "replication": lambda one: one[1].replication,
    "under_replicated": lambda one: one[1].under_replicated,
    "offline": lambda one: one[1].offline,
    "preferred_leaders_percent": lambda one: percent(one[1].preferred, one[1].preferable),
    "groups": lambda one: len(one[0].consumers.get(one[1].name, ())),
    "config": lambda one: one[1].overrides,
    "marks": lambda one: topic_rows.marks(one[1]) or None,
    "changed": lambda one: one[1].changed or None,
}


def _state(field: Callable[[PartitionState], int]) -> Callable[[Judged], int | None]:
    """A number of a partition's state, None where the state is not to be had."""

    def key(one: Judged) -> int | None:
        state = one[0].state
        return field(state) if isinstance(state, PartitionState) else None

    return key


_PARTITION_KEYS: Keys[Judged] = {
    "partition": lambda one: one[0].id,
    "leader": _state(lambda state: state.leader),
    "replicas": lambda one: one[0].replicas,
    "isr": _state(lambda state: len(state.isr)),
    "leader_epoch": _state(lambda state: state.leader_epoch),
    "controller_epoch": _state(lambda state: state.controller_epoch),
    "status": lambda one: one[1][0].rank,
    "changed": lambda one: one[0].znode and one[0].znode.mtime,
    "path": lambda one: one[0].id,
}
_COUNT_KEYS: Keys[Held] = {
    "broker": lambda one: one[0].broker,
    "partitions": lambda one: one[0].count if isinstance(one[0].count, int) else None,
    "status": lambda one: one[1][0].rank,
    "changed": lambda one: one[0].znode and one[0].znode.mtime,
    "path": lambda one: one[0].broker,
}
# Columns that 0.7 cannot fill are not drawn there.
_NOT_IN_07 = {"replication", "under_replicated", "offline", "preferred_leaders_percent", "config"}

PARTITION_SORTS = tuple(_PARTITION_KEYS)
COUNT_SORTS = tuple(_COUNT_KEYS)


def topic_columns(layout: Layout) -> tuple[str, ...]:
    """The fields of TopicRow that a cluster of this layout can fill: its columns, and its keys to sort by."""
    return tuple(key for key in _TOPIC_KEYS if layout is not Layout.V07 or key not in _NOT_IN_07)


def select_topics(state: ClusterState, query: Query) -> Selection[TopicRow]:
    """The Topics page: worst status first, then by name, unless asked otherwise."""
    keys = {key: _TOPIC_KEYS[key] for key in topic_columns(state.layout)}
    key, falls = query.order(keys)
    if not query.q.strip() and (key is None or (key == "status" and not falls)):
        tones, ranking = state.counts.tones, state.ranking
        return first(ranking, tones, query, lambda name: topic_rows.topic(state, name))
    names = [name for _, name in state.ranking]
    if key is not None:
        names.sort()  # so that topics with equal values stand by name; five sorted runs, merged at once
    wanted = filters.parse(query.q, state)
    every = map(state.summaries.__getitem__, names)
    found = [(state, one) for one in every if wanted.admits_topic(one)]
    chosen = choose(found, query, keys, lambda one: one[1].tone, total=len(state.topics))
    return with_rows(chosen, lambda one: topic_rows.topic(state, one[1].name))


def select_partitions(state: ClusterState, topic: Topic, query: Query) -> Selection[PartitionRow]:
    """The Topic page of 0.8+: by partition, unless asked otherwise."""
    live = frozenset(state.brokers)
    found = [(part, summary.partition_status(topic, part, live)) for part in topic.partitions]
    if query.q.strip():
        wanted = filters.parse(query.q, state)
        found = [one for one in found if wanted.admits(str(one[0].id), one[1][0], _brokers(one[0]))]
    chosen = choose(found, query, _PARTITION_KEYS, lambda one: one[1][0], total=len(topic.partitions))
    return with_rows(chosen, lambda one: topic_rows.partition(state, topic, one[0], one[1]))


def select_counts(state: ClusterState, topic: Topic, query: Query) -> Selection[CountRow]:
    """The Topic page of 0.7: by broker, unless asked otherwise."""
    wanted = filters.parse(query.q, state)
    every = ((held, summary.count_status(held, state.brokers)) for held in topic.counts)
    found = [one for one in every if wanted.admits(str(one[0].broker), one[1][0], frozenset({one[0].broker}))]
    chosen = choose(found, query, _COUNT_KEYS, lambda one: one[1][0], total=len(topic.counts))
    return with_rows(chosen, lambda one: topic_rows.count(state, topic, one[0], one[1]))


def _brokers(part: Partition) -> frozenset[int]:
    leader = (part.state.leader,) if isinstance(part.state, PartitionState) else ()
    return frozenset(part.replicas or ()).union(leader)
