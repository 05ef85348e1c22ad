"""Which rows of a table are shown: filter, sort and page, from the state alone.

The default page comes straight from what the state keeps sorted, so that its cost does not depend on the
cluster's size; a filter or the first sort by a column looks at every row once, later ones at what changed.
What topics sort by, their columns say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from zkdash.cluster.checks import topic_standing
from zkdash.cluster.checks.topic_standing import Standing
from zkdash.cluster.evaluation import evaluator
from zkdash.cluster.evaluation import partitions as judging
from zkdash.cluster.model import summary
from zkdash.cluster.model.brokers.lags import NONE as NO_LAGS
from zkdash.cluster.model.brokers.lags import Lags, TopicConsumers
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic
from zkdash.cluster.tables import filters, topic_rows, topic_statuses
from zkdash.cluster.tables.orders import Orders
from zkdash.cluster.tables.query import (
    DEFAULT_ORDER,
    SIZES,
    STATUSES,
    Keys,
    Query,
    Selection,
    choose,
    first,
    page_of,
    ticked,
    with_rows,
)
from zkdash.cluster.tables.topic_rows import CountRow, PartitionRow, TopicRow
from zkdash.cluster.tables.topic_statuses import TopicStatuses
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

    def key(judged: Judged) -> int | None:
        state = judged[0].state
        return field(state) if isinstance(state, PartitionState) else None

    return key


_PARTITION_KEYS: Keys[Judged] = {
    "partition": lambda judged: judged[0].id,
    "leader": _state(lambda state: state.leader),
    "replicas": lambda judged: judged[0].replicas,
    "isr": _state(lambda state: len(state.isr)),
    "leader_epoch": _state(lambda state: state.leader_epoch),
    "controller_epoch": _state(lambda state: state.controller_epoch),
    "status": lambda judged: judged[1][0].rank,
    "changed": lambda judged: judged[0].znode and judged[0].znode.mtime,
    "path": lambda judged: judged[0].id,
}
_COUNT_KEYS: Keys[Held] = {
    "broker": lambda judged: judged[0].broker,
    "partitions": lambda judged: judged[0].count if isinstance(judged[0].count, int) else None,
    "status": lambda judged: judged[1][0].rank,
    "changed": lambda judged: judged[0].znode and judged[0].znode.mtime,
    "path": lambda judged: judged[0].broker,
}
PARTITION_SORTS = tuple(_PARTITION_KEYS)
COUNT_SORTS = tuple(_COUNT_KEYS)


class LagKey(msgspec.Struct, frozen=True):
    """What a topic sorts by that its consumers' lags alone tell. Other keys read no lag."""

    of: Callable[[TopicConsumers], float | None]

    def __call__(self, row: TopicRow) -> float | None:
        return None if row.consumers is None else self.of(row.consumers)


def select_topics(
    state: ClusterState,
    query: Query,
    keys: Keys[TopicRow] = DEFAULT_ORDER,
    lags: Lags = NO_LAGS,
    standing: Standing = topic_standing.NOTHING,
    *,
    orders: Orders | None = None,
) -> Selection[TopicRow]:
    """The Topics page: worst first, then by name, unless asked otherwise by one of `keys`.

    `orders` keeps what topics were sorted by.
    """
    judged = topic_statuses.statuses(state, standing)
    key, falls = query.order(keys)
    if not query.q.strip() and (key is None or (key == "status" and not falls)):
        if not judged.worse:
            severities, ranking = state.counts.severities, state.ranking
            return first(
                ranking, severities, query, lambda name: TopicRow(state, state.summaries[name], lags)
            )
        return page_of(
            ticked(judged.ranked(), query),
            judged.severities(),
            query,
            lambda name: TopicRow(state, judged.summary(name), lags),
        )
    if key is None:
        names: Sequence[str] = [name for _, name in judged.ranked()]
    else:
        by = keys[key]
        names = (orders or Orders()).of(
            by,
            lambda each: [by(TopicRow(state, judged.summary(name), lags)) for name in each],
            falls=falls,
            names=(state.summaries,),
            beside=(lags.topics,) if isinstance(by, LagKey) else (state.consumers, standing),
        )
        if not query.q.strip():
            return page_of(
                _ticked(judged, query, names),
                judged.severities(),
                query,
                lambda name: TopicRow(state, judged.summary(name), lags),
            )
    wanted = filters.parse(query.q, state)
    every = map(judged.summary, filters.named(names, wanted.words))
    rows = [
        TopicRow(state, topic_summary, lags) for topic_summary in every if wanted.admits_topic(topic_summary)
    ]
    return choose(rows, query, DEFAULT_ORDER, lambda row: row.summary.severity, total=len(state.topics))


def _ticked(judged: TopicStatuses, query: Query, names: Sequence[str]) -> Iterable[str]:
    """Of sorted names, those with the statuses that are asked for."""
    if len(query.ticked) == len(STATUSES):
        return names
    return (name for name in names if judged.summary(name).severity.value in query.ticked)


def select_partitions(state: ClusterState, topic: Topic, query: Query) -> Selection[PartitionRow]:
    """The Topic page of 0.8+: by partition, unless asked otherwise."""
    ground = evaluator.ground_of(state)
    judged_parts = list(zip(topic.partitions, judging.statuses(topic, ground), strict=True))
    if query.q.strip():
        wanted = filters.parse(query.q, state)
        judged_parts = [
            judged
            for judged in judged_parts
            if wanted.admits(str(judged[0].id), judged[1][0], _brokers(judged[0]))
        ]
    chosen = choose(
        judged_parts, query, _PARTITION_KEYS, lambda judged: judged[1][0], total=len(topic.partitions)
    )
    return with_rows(chosen, lambda judged: topic_rows.partition(state, topic, judged[0], judged[1]))


def partition(state: ClusterState, topic: Topic, number: int) -> PartitionRow | None:
    """The row of one partition of 0.8+, None where there is no such partition."""
    part = topic.partition(number)
    if part is None:
        return None
    return topic_rows.partition(state, topic, part, judging.status(topic, part, evaluator.ground_of(state)))


def select_counts(state: ClusterState, topic: Topic, query: Query) -> Selection[CountRow]:
    """The Topic page of 0.7: by broker, unless asked otherwise."""
    wanted = filters.parse(query.q, state)
    every = ((count, summary.count_status(count, state.brokers)) for count in topic.counts)
    judged_counts = [
        judged
        for judged in every
        if wanted.admits(str(judged[0].broker), judged[1][0], frozenset({judged[0].broker}))
    ]
    chosen = choose(judged_counts, query, _COUNT_KEYS, lambda judged: judged[1][0], total=len(topic.counts))
    return with_rows(chosen, lambda judged: topic_rows.count(state, topic, judged[0], judged[1]))


def _brokers(part: Partition) -> frozenset[int]:
    leader = (part.state.leader,) if isinstance(part.state, PartitionState) else ()
    return frozenset(part.replicas or ()).union(leader)
