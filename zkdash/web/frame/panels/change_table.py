"""The table of changes, whoever tells of them: a watcher, or the tables of what was."""

from __future__ import annotations

import msgspec

from zkdash.cluster.changes import Change
from zkdash.web.frame import cells, links
from zkdash.web.frame.tables import Column


def _side(value: str | None) -> cells.Cell:
    return cells.absent("there was no such value") if value is None else cells.Text(value)


def _zxid(change: Change, cluster: str = "") -> cells.Cell:
    if change.zxid is None:
        return cells.unknown("ZooKeeper does not tell which transaction deleted a znode")
    return cells.Zxid(change.zxid, href=links.was(cluster, links.at_zxid(change.zxid)) if cluster else "")


COLUMNS: tuple[Column[Change], ...] = (
    Column("when", "When", lambda change: cells.Moment(change.when)),
    Column("area", "Area", lambda change: cells.Text(change.area)),
    Column("what", "What", lambda change: cells.Text(change.what)),
    Column("before", "Before", lambda change: _side(change.before)),
    Column("after", "After", lambda change: _side(change.after)),
    Column("path", "Path", lambda change: cells.Path(change.path)),
    Column("zxid", "zxid", _zxid, is_number=True),
)


def of_cluster(cluster: str) -> tuple[Column[Change], ...]:
    """The same, each transaction with the way to the cluster as it was after it."""
    *others, last = COLUMNS
    return (*others, msgspec.structs.replace(last, cell=lambda change: _zxid(change, cluster)))
