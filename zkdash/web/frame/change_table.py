"""The table of changes, whoever tells of them: a watcher, or the tables of what was."""

from __future__ import annotations

from zkdash.cluster.changes import Change
from zkdash.web.frame import cells
from zkdash.web.frame.tables import Column


def _side(value: str | None) -> cells.Cell:
    return cells.absent("there was no such value") if value is None else cells.Text(value)


COLUMNS: tuple[Column[Change], ...] = (
    Column("when", "When", lambda one: cells.Moment(one.when)),
    Column("area", "Area", lambda one: cells.Text(one.area)),
    Column("what", "What", lambda one: cells.Text(one.what)),
    Column("before", "Before", lambda one: _side(one.before)),
    Column("after", "After", lambda one: _side(one.after)),
    Column("path", "Path", lambda one: cells.Path(one.path)),
    Column(
        "zxid",
        "zxid",
        lambda one: (
            cells.Id(one.zxid)
            if one.zxid is not None
            else cells.unknown("ZooKeeper does not tell which transaction deleted a znode")
        ),
        is_number=True,
    ),
)
