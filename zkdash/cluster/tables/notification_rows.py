"""Notifications that lie in ZooKeeper: what brokers or the controller have still to read, oldest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.kafka import paths
from zkdash.kafka.configs import entity_names
from zkdash.kafka.values import (
    AclChange,
    ConfigChange,
    IsrChange,
    LogDirEvent,
    Notification,
    Unparsable,
)
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Unreadable

_WHAT: Mapping[Kind, str] = {
    Kind.CONFIG_CHANGE: "configuration",
    Kind.ACL_CHANGE: "ACL",
    Kind.EXTENDED_ACL_CHANGE: "ACL",
    Kind.TOKEN_CHANGE: "delegation token",
    Kind.ISR_CHANGE: "ISR",
    Kind.LOG_DIR_EVENT: "log directory",
}
_MOST_NAMED = 5


class NotificationRow(msgspec.Struct, frozen=True):
    """One notification. `about` is None where nothing more may be known, as of a token.

    `since` is the ctime in epoch milliseconds, None where the znode may not be read.
    """

    what: str
    about: str | Unparsable | Unreadable | None
    since: int | None
    path: str


def every(state: ClusterState) -> tuple[NotificationRow, ...]:
    """All of them, oldest first; those of unknown age come last."""
    return _sorted(_row(path, seen) for path, seen in state.notifications.items())


def of_topic(state: ClusterState, name: str) -> tuple[NotificationRow, ...]:
    """Those about a topic: its configuration, its ACL, the ISR of a partition of it."""
    return _sorted(
        _row(path, seen) for path, seen in state.notifications.items() if _concerns(seen.value, name)
    )


def _sorted(rows: Iterable[NotificationRow]) -> tuple[NotificationRow, ...]:
    return tuple(sorted(rows, key=lambda row: (row.since is None, row.since, row.path)))


def _row(path: str, seen: Seen[Notification]) -> NotificationRow:
    since = None if seen.znode is None else seen.znode.ctime
    return NotificationRow(_WHAT[paths.locate(path).kind], _about(seen.value), since, path)


def _about(value: Notification | Unparsable | Unreadable) -> str | Unparsable | Unreadable | None:
    match value:
        case ConfigChange(entity_path=path):
            return entity_names.of(path).words
        case AclChange(resource_type=of, name=name, pattern_type=pattern):
            return f"{of} {name} ({pattern.lower()})"
        case IsrChange(partitions=partitions):
            named = ", ".join(f"{topic} {number}" for topic, number in partitions[:_MOST_NAMED])
            more = len(partitions) - _MOST_NAMED
            return f"{named} and {more} more" if more > 0 else named
        case LogDirEvent(broker=broker, event=event):
            return f"failed on broker {broker}" if event == 1 else f"event {event} on broker {broker}"
        case Unparsable() | Unreadable():
            return value
    return None


def _concerns(value: Notification | Unparsable | Unreadable, topic: str) -> bool:
    match value:
        case ConfigChange(entity_path=path):
            return path == f"topics/{topic}"
        case AclChange(resource_type=of, name=name, pattern_type=pattern):
            is_topic = of.casefold() == "topic"
            return is_topic and (topic == name if pattern == "LITERAL" else topic.startswith(name))
        case IsrChange(partitions=partitions):
            return any(name == topic for name, _ in partitions)
    return False
