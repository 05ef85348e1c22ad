"""What a topic has beside its partitions: options of its own, rights, and notifications about it."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.tables import acl_rows, notification_rows
from zkdash.cluster.tables.acl_rows import AclRow
from zkdash.cluster.tables.notification_rows import NotificationRow
from zkdash.kafka.configs import topic_options
from zkdash.kafka.configs.topic_option_meanings import MEANINGS
from zkdash.kafka.values import TopicConfig
from zkdash.live.parts import Block
from zkdash.web.configs import acl_table, notification_table
from zkdash.web.frame import cells, shapes, tables
from zkdash.web.frame.cells import Cell, Record
from zkdash.web.frame.tables import Column, Heading


class Override(msgspec.Struct, frozen=True):
    """One option: what it does, or why Kafka would not take it (`fault`)."""

    name: str
    value: str
    meaning: str
    fault: str


class Options(msgspec.Struct, frozen=True):
    """What the template draws; `doubt` says why the options can't be known."""

    overrides: tuple[Override, ...] = ()
    doubt: str = ""


class Beside(msgspec.Struct, frozen=True):
    """What the template draws. The doubts are sentences about what can't be known.

    `unnamed` says that the cluster has ACLs and none is about the topic.
    """

    acls: tuple[tuple[Cell, ...], ...] = ()
    acl_headings: tuple[Heading, ...] = ()
    acl_doubts: tuple[str, ...] = ()
    unnamed: bool = False
    pending: tuple[tuple[Cell, ...], ...] = ()
    pending_headings: tuple[Heading, ...] = ()


def blocks(cluster: str, topic: Topic | None, state: ClusterState) -> tuple[Block, Block]:
    """The live parts, options apart from the rest; both empty for a topic that is not there."""
    options = Options() if topic is None else _options(topic)
    beside = Beside() if topic is None else _beside(cluster, topic, state)
    return (
        Block(id="options", template="topics/options.html", values=options),
        Block(id="beside", template="topics/beside.html", values=beside),
    )


def record(cluster: str, topic: Topic | None, state: ClusterState) -> Record:
    """What JSON says of them."""
    if topic is None:
        return {"config": {}, "acls": [], "notifications": []}
    config = topic.config
    record: Record = {"overrides": dict(config.config) if isinstance(config, TopicConfig) else {}}
    if config is not None and not isinstance(config, TopicConfig):
        record = {"overrides": None, "overrides_reason": config.reason}
    return {
        "config": record,
        "acls": list(tables.records(COLUMNS, acl_rows.of_topic(state, topic.name))),
        "notifications": notification_table.records(cluster, notification_rows.of_topic(state, topic.name)),
    }


def _options(topic: Topic) -> Options:
    if topic.config is None:
        return Options()
    if not isinstance(topic.config, TopicConfig):
        return Options(doubt=topic.config.reason)
    return Options(
        tuple(
            Override(name, value, MEANINGS.get(name, ""), topic_options.fault(name, value))
            for name, value in sorted(topic.config.config.items())
        )
    )


def _beside(cluster: str, topic: Topic, state: ClusterState) -> Beside:
    named = acl_rows.of_topic(state, topic.name)
    return Beside(
        acls=tuple(tuple(column.cell(row) for column in COLUMNS) for row in named),
        acl_headings=tables.headings(COLUMNS, ""),
        acl_doubts=tuple(f"{path} is not readable: {why}" for path, why in _refused(state)),
        unnamed=bool(state.acls) and not named,
        pending=tuple(_pending(cluster, row) for row in notification_rows.of_topic(state, topic.name)),
        pending_headings=tables.headings(notification_table.COLUMNS, ""),
    )


def _refused(state: ClusterState) -> tuple[tuple[str, str], ...]:
    return tuple(refused for refused in acl_rows.refused(state) if refused[0].startswith("/kafka-acl"))


def _pending(cluster: str, row: NotificationRow) -> tuple[Cell, ...]:
    return tuple(column.cell((cluster, row)) for column in notification_table.COLUMNS)


def _named(row: AclRow) -> Cell:
    """How the ACL names the topic."""
    if row.pattern == acl_rows.PREFIXED:
        return cells.Text(f"begins with {row.resource}")
    return cells.Text("every topic" if row.resource == acl_rows.ANY else "this topic")


COLUMNS: tuple[Column[AclRow], ...] = (Column("named", "Given for", _named), *acl_table.ENTRY)

RECORD: Final = {
    "config": shapes.fields(overrides=shapes.or_null(shapes.named(shapes.TEXT))),
    "acls": shapes.many(shapes.row(COLUMNS)),
    "notifications": shapes.many(shapes.row(notification_table.COLUMNS)),
}
