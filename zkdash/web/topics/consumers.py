"""The groups that consume a topic, the furthest behind first, with their lag; the same as JSON."""

from __future__ import annotations

from typing import Final, NamedTuple

from zkdash.cluster.model.brokers.lags import NOTHING_COMMITTED, TopicLag
from zkdash.cluster.model.severity import Severity
from zkdash.kafka.values import Layout
from zkdash.live.parts import Table
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, shapes, tables
from zkdash.web.frame.cells import Record
from zkdash.web.frame.panels import lag_cells
from zkdash.web.frame.tables import Column, Empty

MOST = 50


class Entry(NamedTuple):
    """One group that consumes a topic of a cluster."""

    cluster: str
    group: str
    lag: TopicLag


def names(snapshot: Snapshot, topic: str) -> set[str]:
    """The groups that consume it, by what ZooKeeper holds and by what they committed to Kafka."""
    lags = snapshot.lags.topics.get(topic)
    return {*snapshot.state.consumers.get(topic, ()), *(lags.by_group if lags else ())}


def entries(snapshot: Snapshot, topic: str) -> list[Entry]:
    """All of them, the furthest behind first."""
    lags = snapshot.lags.topics.get(topic)
    by_group = lags.by_group if lags else {}
    rows = [
        Entry(snapshot.cluster, name, by_group.get(name) or _unsampled(snapshot, name))
        for name in names(snapshot, topic)
    ]
    return sorted(rows, key=lambda entry: (-entry.lag.least, entry.group))


def table(snapshot: Snapshot, topic: str) -> Table:
    """The live rows; those over `MOST` are only in JSON."""
    return tables.part(
        "consumers-rows",
        columns(snapshot.state.layout),
        (
            (links.element_id("consumer", entry.group), Severity.OK, entry)
            for entry in entries(snapshot, topic)[:MOST]
        ),
        Empty("No group is known to consume it: none subscribes to it by name, owns or committed anything."),
    )


def records(snapshot: Snapshot, topic: str) -> list[Record]:
    """All groups as JSON has them."""
    return list(tables.records(columns(snapshot.state.layout), entries(snapshot, topic)))


def columns(layout: Layout) -> tuple[Column[Entry], ...]:
    """Those that a cluster of this layout can fill: offsets of 0.7 are positions in bytes."""
    return COLUMNS[:1] if layout is Layout.V07 else COLUMNS


def _unsampled(snapshot: Snapshot, group: str) -> TopicLag:
    """Of a group that has no offset here, or of which nobody asked yet."""
    is_told = group in snapshot.lags.groups
    return TopicLag(None, 0, None, None, NOTHING_COMMITTED if is_told else snapshot.lags.otherwise)


COLUMNS: tuple[Column[Entry], ...] = (
    Column("group", "Group", lambda entry: cells.Name(entry.group, links.group(entry.cluster, entry.group))),
    *lag_cells.columns(lambda entry: entry.lag),
)

RECORDS: Final = shapes.many(shapes.row(COLUMNS))
