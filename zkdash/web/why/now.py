"""How a thing is, in one sentence, beside which its story stands."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import topic_queries, topic_statuses
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.cluster.tables.topic_rows import PartitionRow
from zkdash.kafka import paths
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame.subjects import Subject


class AsItIs(msgspec.Struct, frozen=True):
    """How it is: `words` say so; `details` are the values behind them."""

    severity: Severity
    words: str
    details: tuple[str, ...] = ()


def look(snapshot: Snapshot, subject: Subject) -> AsItIs | None:
    """How a thing is; None where it is not there."""
    if subject.kind == "topic":
        return _topic(snapshot, subject.name) if subject.partition is None else _partition(snapshot, subject)
    if subject.kind == "group":
        group = snapshot.state.group_summaries.get(subject.name)
        return None if group is None else AsItIs(group.severity, group.words)
    number = int(subject.name) if paths.is_id(subject.name) else -1
    if number not in broker_rows.ids(snapshot.state):
        return None
    row = broker_rows.broker(snapshot.state, number)
    return AsItIs(row.status, row.words)


def _topic(snapshot: Snapshot, name: str) -> AsItIs | None:
    topic = topic_statuses.of_topic(snapshot.state, snapshot.observations.standing, name)
    return None if topic is None else AsItIs(topic.severity, topic.words)


def _partition(snapshot: Snapshot, subject: Subject) -> AsItIs | None:
    topic = snapshot.state.topics.get(subject.name)
    if topic is None or subject.partition is None:
        return None
    row = topic_queries.partition(snapshot.state, topic, subject.partition)
    return None if row is None else AsItIs(row.status, row.words, _details(row))


def _details(row: PartitionRow) -> tuple[str, ...]:
    """What its znodes hold, as far as they can be read."""
    leader = row.leader if isinstance(row.leader, int) else None
    lists = (("replicas", row.replicas), ("ISR", row.isr))
    return (
        *([] if leader is None else ["no leader" if leader < 0 else f"leader {leader}"]),
        *(f"{name} {', '.join(map(str, ids)) or 'empty'}" for name, ids in lists if isinstance(ids, tuple)),
    )
