"""Which brokers are shown, and which of a broker's partitions: filter, sort and page, from the state alone.

The default page of a broker's partitions reads topics in their order until it is full: how many there are
in all, and of each status, the state keeps. A filter or a sort looks at every partition once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from zkdash.cluster.analysis import skew
from zkdash.cluster.evaluation import evaluator
from zkdash.cluster.evaluation import partitions as judging
from zkdash.cluster.model import summary
from zkdash.cluster.model.brokers.load import NOTHING
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic
from zkdash.cluster.tables import filters
from zkdash.cluster.tables.brokers import filters as roles
from zkdash.cluster.tables.brokers import rows
from zkdash.cluster.tables.brokers.rows import BrokerRow, HeldRow, ReplicaRow
from zkdash.cluster.tables.query import DEFAULT_ORDER, STATUSES, Keys, Query, Selection, choose, window
from zkdash.kafka.values import Broker, PartitionState

Part = tuple[Topic, Partition]
Judged = tuple[Topic, Partition, Status]
Held = tuple[Topic, PartitionCount, Status]


_FINE: Status = (Severity.OK, "ok")


def _number_key(judged: Judged) -> tuple[str, int]:
    return judged[0].name, judged[1].id


def _leads(number: int, judged: Judged) -> bool | None:
    """False sorts first: the leader before the followers."""
    role = rows.role(number, judged[1])
    return None if role is None else role != rows.LEADER


def _is_out(number: int, judged: Judged) -> bool | None:
    state = judged[1].state
    return number not in state.isr if isinstance(state, PartitionState) else None


def _replica_keys(number: int) -> Keys[Judged]:
    return {
        "topic": _number_key,
        "partition": lambda judged: judged[1].id,
        "role": lambda judged: _leads(number, judged),
        "in_sync": lambda judged: _is_out(number, judged),
        "preferred": lambda judged: (
            None if judged[1].replicas is None else judged[1].replicas[:1] != (number,)
        ),
        "status": lambda judged: judged[2][0].rank,
    }


_HELD_KEYS: Keys[Held] = {
    "topic": lambda judged: judged[0].name,
    "partitions": lambda judged: judged[1].count if isinstance(judged[1].count, int) else None,
    "status": lambda judged: judged[2][0].rank,
    "changed": lambda judged: judged[1].znode and judged[1].znode.mtime,
}
REPLICA_SORTS = tuple(_replica_keys(0))
HELD_SORTS = tuple(_HELD_KEYS)


def select_brokers(
    state: ClusterState, query: Query, keys: Keys[BrokerRow] = DEFAULT_ORDER
) -> Selection[BrokerRow]:
    """The Brokers page: by id, unless asked otherwise by one of `keys`."""
    numbers = sorted(rows.ids(state))
    wanted = filters.parse(query.q, state)
    means = skew.means(state)
    every = (rows.broker(state, number, means) for number in numbers)
    admitted = [row for row in every if wanted.admits(_text(row), row.status, frozenset({row.id}))]
    return choose(admitted, query, keys, lambda row: row.status, total=len(numbers))


def select_replicas(state: ClusterState, number: int, query: Query) -> Selection[ReplicaRow]:
    """The Broker page of 0.8+: by topic and partition, unless asked otherwise."""
    keys = _replica_keys(number)
    if not query.q.strip() and query.order(keys) in {(None, False), ("topic", False)}:
        return _first_replicas(state, number, query)
    replicas = list(_judged(state, number, query.q))
    total = state.loads.get(number, NOTHING).listed
    chosen = choose(replicas, query, keys, lambda judged: judged[2][0], total=total)
    return _with(chosen, tuple(rows.replica(number, *judged) for judged in chosen.rows))


def select_held(state: ClusterState, number: int, query: Query) -> Selection[HeldRow]:
    """The Broker page of 0.7: by topic, unless asked otherwise."""
    wanted = filters.parse(query.q, state)
    every = [
        (topic, count, summary.count_status(count, state.brokers))
        for topic in _topics(state, number, tuple(Severity))
        for count in topic.counts
        if count.broker == number
    ]
    admitted = [
        judged
        for judged in every
        if wanted.admits(judged[0].name.casefold(), judged[2][0], frozenset({number}))
    ]
    chosen = choose(admitted, query, _HELD_KEYS, lambda judged: judged[2][0], total=len(every))
    return _with(chosen, tuple(rows.held(*judged) for judged in chosen.rows))


def _first_replicas(state: ClusterState, number: int, query: Query) -> Selection[ReplicaRow]:
    """The default order, of which only what comes up to the page is read."""
    load, ground = state.loads.get(number, NOTHING), evaluator.ground_of(state)
    counts = dict(zip(STATUSES, load.severities, strict=True))
    ticked = query.ticked
    matched = sum(counts[status] for status in ticked)
    page, pages, cut = window(query, matched)
    # No partition is worse than its topic, so that better topics hold none that is asked for.
    worst = max(
        (severity for severity in Severity if severity.value in ticked), key=lambda severity: severity.rank
    )
    parts = _parts(state, number, tuple(severity for severity in Severity if severity.rank <= worst.rank))
    if len(ticked) < len(STATUSES):
        parts = (judged for judged in parts if judging.status(*judged, ground)[0].value in ticked)
    shown = islice(parts, cut.start, min(cut.stop, matched))
    made = tuple(rows.replica(number, *part, judging.status(*part, ground)) for part in shown)
    return Selection(made, load.listed, matched, page, pages, counts)


def _judged(state: ClusterState, number: int, text: str) -> Iterator[Judged]:
    """The partitions that a broker holds or leads and that pass a filter, with their status."""
    wanted, ground = roles.parse(text, state), evaluator.ground_of(state)
    asks = bool(text.strip())
    for topic in _topics(state, number, tuple(Severity)):
        if not wanted.admits_topic(topic.name):
            continue
        # No partition is worse than its topic.
        fine = _FINE if state.summaries[topic.name].severity is Severity.OK else None
        for partition in _held_parts(topic, number):
            if asks and not wanted.admits(number, topic, partition):
                continue
            status = fine or judging.status(topic, partition, ground)
            if not asks or wanted.admits_status(status[0], partition):
                yield topic, partition, status


def _parts(state: ClusterState, number: int, severities: tuple[Severity, ...]) -> Iterator[Part]:
    """The partitions that a broker holds or leads, of topics with these severities, by topic and number."""
    for topic in _topics(state, number, severities):
        for partition in _held_parts(topic, number):
            yield topic, partition


def _held_parts(topic: Topic, number: int) -> Iterator[Partition]:
    for partition in summary.assigned(topic):
        state = partition.state
        if number in (partition.replicas or ()) or (
            isinstance(state, PartitionState) and state.leader == number
        ):
            yield partition


def _topics(state: ClusterState, number: int, severities: tuple[Severity, ...]) -> Iterator[Topic]:
    """The topics with these severities of which a broker leads or holds something, by name."""
    runs: list[Iterator[str]] = []
    start = 0
    for severity, count in zip(Severity, state.counts.severities, strict=True):
        if count and severity in severities:
            # Of one status those in more trouble come first, so that names are in order among equals alone.
            runs.extend(state.ranking.runs(start, start + count))
        start += count
    for name in heapq.merge(*runs):
        if number in state.summaries[name].brokers:
            yield state.topics[name]


def _text(row: BrokerRow) -> str:
    """What the words of a filter are looked for in."""
    said = row.broker if isinstance(row.broker, Broker) else None
    names = () if said is None else (said.rack or "", *said.endpoints)
    return " ".join((str(row.id), row.host_port or "", *names)).casefold()


def _with(chosen: Selection[Any], made: tuple[Any, ...]) -> Selection[Any]:
    return msgspec.structs.replace(chosen, rows=made)
