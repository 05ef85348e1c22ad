"""The table of notifications that lie in ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterable

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.notification_rows import NotificationRow
from zkdash.live.parts import Table
from zkdash.web.frame import cells, links, tables
from zkdash.web.frame.cells import Record
from zkdash.web.frame.tables import Column, Empty

Entry = tuple[str, NotificationRow]  # the cluster's name, and the notification


def table(cluster: str, rows: Iterable[NotificationRow], empty: str) -> Table:
    """The live rows."""
    return tables.part(
        "notifications-rows",
        COLUMNS,
        ((links.element_id("notification", row.path), Severity.OK, (cluster, row)) for row in rows),
        Empty(empty),
        problems=lambda entry: links.problems(entry[0], entry[1].path),
    )


def records(cluster: str, rows: Iterable[NotificationRow]) -> list[Record]:
    return list(tables.records(COLUMNS, ((cluster, row) for row in rows)))


def _about(row: NotificationRow) -> cells.Cell:
    return cells.known(row.about, cells.Text, "what it holds is never read into zkdash")


COLUMNS: tuple[Column[Entry], ...] = (
    Column("what", "What changed", lambda entry: cells.Text(entry[1].what), is_sortable=False),
    Column("about", "Of what", lambda entry: _about(entry[1]), is_sortable=False),
    Column(
        "since",
        "Since",
        lambda entry: cells.known(entry[1].since, cells.Moment, "the znode may not be read"),
        is_sortable=False,
    ),
    Column("path", "Path", lambda entry: cells.Path(entry[1].path, cluster=entry[0]), is_sortable=False),
)
