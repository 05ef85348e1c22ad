"""What a group has left to read, topic by topic, the furthest behind first: a table, and the same as JSON."""

from __future__ import annotations

from typing import Final, NamedTuple

from zkdash.cluster.model.brokers.lags import TopicLag
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import Table
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, shapes, tables
from zkdash.web.frame.cells import Record
from zkdash.web.frame.panels import lag_cells
from zkdash.web.frame.tables import Column, Empty

MOST = 200


class Entry(NamedTuple):
    """One topic of a group of a cluster."""

    cluster: str
    topic: str
    lag: TopicLag


def table(snapshot: Snapshot, group: str) -> Table:
    """The live rows; those over `MOST` are only in JSON."""
    lag = snapshot.lags.of_group(group)
    return tables.part(
        "topic-lags-rows",
        COLUMNS,
        (
            (links.element_id("topic-lag", entry.topic), Severity.OK, entry)
            for entry in _entries(snapshot, group)[:MOST]
        ),
        Empty(f"Its lag is unknown: {lag.reason}."),
    )


def records(snapshot: Snapshot, group: str) -> list[Record]:
    """All topics as JSON has them."""
    return list(tables.records(COLUMNS, _entries(snapshot, group)))


def _entries(snapshot: Snapshot, group: str) -> list[Entry]:
    topics = snapshot.lags.of_group(group).topics
    names = sorted(topics, key=lambda name: (-topics[name].least, name))
    return [Entry(snapshot.cluster, name, topics[name]) for name in names]


COLUMNS: tuple[Column[Entry], ...] = (
    Column("topic", "Topic", lambda entry: cells.Name(entry.topic, links.topic(entry.cluster, entry.topic))),
    *lag_cells.columns(lambda entry: entry.lag),
)

RECORDS: Final = shapes.many(shapes.row(COLUMNS))
