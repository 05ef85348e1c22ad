"""Which rows of a table are shown: filter, sort and page, from the state alone.

The default page comes straight from what the state keeps sorted, so that its cost does not depend on the
cluster's size; a filter or a sort looks at every row once. What topics sort by, their columns say.
"""

from __future__ import annotations

from collections.abc import Callable

from zkdash.cluster.evaluation import evaluator
from zkdash.cluster.evaluation import partitions as judging
from zkdash.cluster.model import summary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic
from zkdash.cluster.tables import filters, topic_rows
from zkdash.cluster.tables.query import (
    DEFAULT_ORDER,
    SIZES,
    STATUSES,
    Keys,
    Query,
    Selection,
    choose,
    first,
    with_rows,
)
from zkdash.cluster.tables.topic_rows import CountRow, PartitionRow, TopicRow
from zkdash.kafka.values import PartitionState

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
]

Judged = tuple[Partition, Status]
Held = tuple[PartitionCount, Status]


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
PARTITION_SORTS = tuple(_PARTITION_KEYS)
COUNT_SORTS = tuple(_COUNT_KEYS)


def select_topics(
    state: ClusterState, query: Query, keys: Keys[TopicRow] = DEFAULT_ORDER
) -> Selection[TopicRow]:
    """The Topics page: worst status first, then by name, unless asked otherwise by one of `keys`."""
    key, falls = query.order(keys)
    if not query.q.strip() and (key is None or (key == "status" and not falls)):
        tones, ranking = state.counts.tones, state.ranking
        return first(ranking, tones, query, lambda name: TopicRow(state, state.summaries[name]))
    names = [name for _, name in state.ranking]
    if key is not None:
        names.sort()  # so that topics with equal values stand by name; five sorted runs, merged at once
    wanted = filters.parse(query.q, state)
    every = map(state.summaries.__getitem__, names)
    found = [TopicRow(state, one) for one in every if wanted.admits_topic(one)]
    return choose(found, query, keys, lambda row: row.summary.tone, total=len(state.topics))


def select_partitions(state: ClusterState, topic: Topic, query: Query) -> Selection[PartitionRow]:
    """The Topic page of 0.8+: by partition, unless asked otherwise."""
    ground = evaluator.ground_of(state)
    found = [(part, judging.status(topic, part, ground)) for part in topic.partitions]
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
