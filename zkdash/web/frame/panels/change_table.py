"""The table of changes, whoever tells of them: a watcher, or the tables of what was."""

from __future__ import annotations

from zkdash.cluster.changes import Change
from zkdash.web.frame import cells
from zkdash.web.frame.tables import Column


def _side(value: str | None) -> cells.Cell:
    return cells.absent("there was no such value") if value is None else cells.Text(value)


COLUMNS: tuple[Column[Change], ...] = (
    Column("when", "When", lambda change: cells.Moment(change.when)),
    Column("area", "Area", lambda change: cells.Text(change.area)),
    Column("what", "What", lambda change: cells.Text(change.what)),
    Column("before", "Before", lambda change: _side(change.before)),
    Column("after", "After", lambda change: _side(change.after)),
    Column("path", "Path", lambda change: cells.Path(change.path)),
    Column(
        "zxid",
        "zxid",
        lambda change: (
            cells.Id(change.zxid)
            if change.zxid is not None
            else cells.unknown("ZooKeeper does not tell which transaction deleted a znode")
        ),
        is_number=True,
    ),
)
