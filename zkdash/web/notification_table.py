"""The table of notifications that lie in ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterable

from zkdash.cluster.notification_rows import NotificationRow
from zkdash.cluster.tone import Tone
from zkdash.live.parts import Table
from zkdash.web import cells, links, tables
from zkdash.web.page import Record
from zkdash.web.tables import Column, Empty


def table(cluster: str, rows: Iterable[NotificationRow], empty: str) -> Table:
    """The live rows."""
    return tables.part(
        "notifications-rows",
        COLUMNS,
        ((links.element_id("notification", row.path), Tone.OK, row) for row in rows),
        Empty(empty),
        problems=lambda row: links.problems(cluster, row.path),
    )


def records(rows: Iterable[NotificationRow]) -> list[Record]:
    return list(tables.records(COLUMNS, rows))


def _about(row: NotificationRow) -> cells.Cell:
    return cells.known(row.about, cells.Text, "what it holds is never read into zkdash")


COLUMNS: tuple[Column[NotificationRow], ...] = (
    Column("what", "What changed", lambda row: cells.Text(row.what), is_sortable=False),
    Column("about", "Of what", _about, is_sortable=False),
    Column(
        "since",
        "Since",
        lambda row: cells.known(row.since, cells.Moment, "the znode may not be read"),
        is_sortable=False,
    ),
    Column("path", "Path", lambda row: cells.Path(row.path), is_sortable=False),
)
