"""Which rows of a table are shown: filter, sort and page, from the state alone.

The default page comes straight from what the state keeps sorted, so that its cost does not depend on the
cluster's size; a filter or a sort looks at every row once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

import msgspec

from zkdash.cluster import filters, rows
from zkdash.cluster.rows import CountRow, PartitionRow, TopicRow
from zkdash.cluster.state import ClusterState
from zkdash.cluster.tone import Tone
from zkdash.cluster.topics import Topic, TopicSummary
from zkdash.kafka.values import Layout

R = TypeVar("R")
K = TypeVar("K")

SIZES = (50, 200, 1000)
STATUSES = tuple(tone.value for tone in Tone)


class Query(msgspec.Struct, frozen=True):
    """What a list page was asked for. `sort` is a key of the table's, with "-" before it to fall; "" is the
    default order. `page` counts from 1. What is not allowed falls back to the default."""

    q: str = ""
    status: tuple[str, ...] = ()
    sort: str = ""
    page: int = 1
    size: int = SIZES[0]


class Selection(msgspec.Struct, Generic[R], frozen=True):
    """The rows of one page.

    `total` counts the table's rows, `matched` those that pass the query, `counts` those that pass its text by
    status (so that each status tick-box can say what it would show). `page` is of `pages`, at least 1.
    """

    rows: tuple[R, ...]
    total: int
    matched: int
    page: int
    pages: int
    counts: Mapping[str, int]


# By the names that the rows have. Where one has no value it comes last, rising or falling.
_TOPIC_KEYS: Mapping[str, Callable[[ClusterState, TopicSummary], Any]] = {
    "status": lambda _, one: one.tone.rank,
    "name": lambda _, one: one.name,
    "partitions": lambda _, one: one.partitions,
    "replication": lambda _, one: one.replication,
    "under_replicated": lambda _, one: one.under_replicated,
    "offline": lambda _, one: one.offline,
    "preferred_leaders_percent": lambda _, one: rows.percent(one.preferred, one.preferable),
    "groups": lambda state, one: len(state.consumers.get(one.name, ())),
    "config": lambda _, one: one.overrides,
    "marks": lambda _, one: rows.marks(one) or None,
    "changed": lambda _, one: one.changed or None,
}
_PARTITION_KEYS: Mapping[str, Callable[[PartitionRow], Any]] = {
    "partition": lambda row: row.partition,
    "leader": lambda row: row.leader if isinstance(row.leader, int) else None,
    "replicas": lambda row: row.replicas if isinstance(row.replicas, tuple) else None,
    "isr": lambda row: len(row.isr) if isinstance(row.isr, tuple) else None,
    "leader_epoch": lambda row: row.leader_epoch if isinstance(row.leader_epoch, int) else None,
    "controller_epoch": lambda row: row.controller_epoch if isinstance(row.controller_epoch, int) else None,
    "status": lambda row: row.status.rank,
    "changed": lambda row: row.changed,
    "path": lambda row: row.partition,
}
_COUNT_KEYS: Mapping[str, Callable[[CountRow], Any]] = {
    "broker": lambda row: row.broker,
    "partitions": lambda row: row.partitions if isinstance(row.partitions, int) else None,
    "status": lambda row: row.status.rank,
    "changed": lambda row: row.changed,
    "path": lambda row: row.broker,
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
    key, falls = _order(query.sort, topic_columns(state.layout))
    counts = dict(zip(STATUSES, state.counts.tones, strict=True))
    ticked = _ticked(query)
    if not query.q.strip() and (key is None or (key == "status" and not falls)):
        names: Iterable[str] = _ranked(state, ticked)
        matched = sum(counts[status] for status in ticked)
        page, pages, first, last = _window(query, matched)
        shown = list(islice(names, first, last))
    else:
        found = list(_passing_topics(state, filters.parse(query.q, state)))
        counts = _counted(summary.tone for summary in found)
        found = [summary for summary in found if summary.tone.value in ticked]
        if key is not None:
            by = _TOPIC_KEYS[key]
            found.sort(key=lambda summary: summary.name)
            found = _sorted(found, lambda summary: by(state, summary), falls=falls)
        matched = len(found)
        page, pages, first, last = _window(query, matched)
        shown = [summary.name for summary in found[first:last]]
    return Selection(
        tuple(rows.topic(state, name) for name in shown), len(state.topics), matched, page, pages, counts
    )


def select_partitions(state: ClusterState, topic: Topic, query: Query) -> Selection[PartitionRow]:
    """The Topic page of 0.8+: by partition, unless asked otherwise."""
    wanted = filters.parse(query.q, state)
    found = [
        row
        for row in (rows.partition(state, topic, part) for part in topic.partitions)
        if wanted.admits(str(row.partition), row.status, _brokers(row))
    ]
    return _select(found, query, _PARTITION_KEYS, total=len(topic.partitions))


def select_counts(state: ClusterState, topic: Topic, query: Query) -> Selection[CountRow]:
    """The Topic page of 0.7: by broker, unless asked otherwise."""
    wanted = filters.parse(query.q, state)
    found = [
        row
        for row in (rows.count(state, topic, held) for held in topic.counts)
        if wanted.admits(str(row.broker), row.status, frozenset({row.broker}))
    ]
    return _select(found, query, _COUNT_KEYS, total=len(topic.counts))


def _select(
    found: Sequence[Any], query: Query, keys: Mapping[str, Callable[[Any], Any]], *, total: int
) -> Selection[Any]:
    key, falls = _order(query.sort, tuple(keys))
    counts = _counted(row.status for row in found)
    ticked = _ticked(query)
    found = [row for row in found if row.status.value in ticked]
    if key is not None:
        found = _sorted(found, keys[key], falls=falls)
    page, pages, first, last = _window(query, len(found))
    return Selection(tuple(found[first:last]), total, len(found), page, pages, counts)


def _passing_topics(state: ClusterState, wanted: filters.Filter) -> Iterator[TopicSummary]:
    """In the default order."""
    summaries = state.summaries
    for _, name in state.ranking:
        summary = summaries[name]
        if wanted.admits_topic(summary):
            yield summary


def _ranked(state: ClusterState, ticked: frozenset[str]) -> Iterator[str]:
    """The names of the topics with these statuses, in the default order, read as far as is asked for."""
    start = 0
    for tone, count in zip(Tone, state.counts.tones, strict=True):
        if tone.value in ticked:
            yield from (name for _, name in state.ranking.between(start, start + count))
        start += count


def _ticked(query: Query) -> frozenset[str]:
    """The statuses asked for; all where none is."""
    return frozenset(query.status).intersection(STATUSES) or frozenset(STATUSES)


def _order(sort: str, allowed: Sequence[str]) -> tuple[str | None, bool]:
    key = sort.removeprefix("-")
    return (key, sort.startswith("-")) if key in allowed else (None, False)


def _window(query: Query, matched: int) -> tuple[int, int, int, int]:
    """(page, pages, first row, behind the last); a page that is not there is the last one."""
    size = query.size if query.size in SIZES else SIZES[0]
    pages = max(1, -(-matched // size))
    page = min(max(query.page, 1), pages)
    return page, pages, (page - 1) * size, page * size


def _sorted(found: Sequence[K], key: Callable[[K], Any], *, falls: bool) -> list[K]:
    """Sorted by a key, equal ones in their order; those without a value last."""
    keyed = [(key(one), one) for one in found]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=falls)
    return [one for _, one in known] + [one for value, one in keyed if value is None]


def _counted(tones: Iterable[Tone]) -> dict[str, int]:
    found = Counter(tones)
    return {tone.value: found[tone] for tone in Tone}


def _brokers(row: PartitionRow) -> frozenset[int]:
    replicas = row.replicas if isinstance(row.replicas, tuple) else ()
    leader = (row.leader,) if isinstance(row.leader, int) else ()
    return frozenset({*replicas, *leader})
