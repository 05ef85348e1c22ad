"""Lines of the audit as a table has them."""

from __future__ import annotations

from collections.abc import Iterable

from zkdash.actions.reading.entries import AuditEntry
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import Table
from zkdash.web.actions import audit_words
from zkdash.web.actions import cells as action_cells
from zkdash.web.frame import cells, links, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.tables import Column, Empty


def part(
    part_id: str, columns: tuple[Column[AuditEntry], ...], lines: Iterable[AuditEntry], empty: str
) -> Table:
    """The table of lines; `empty` is the sentence where there is none."""
    return tables.part(
        part_id, columns, ((f"audit-{line.id}", Severity.OK, line) for line in lines), Empty(empty)
    )


def _action(line: AuditEntry) -> Cell:
    if line.action is None:
        return cells.absent("it is about no action")
    return cells.Id(line.action, href=links.action(line.cluster, line.action))


def _step(line: AuditEntry) -> Cell:
    return cells.known(line.step, lambda number: cells.Id(number + 1), "it is about no step")


def _path(line: AuditEntry) -> Cell:
    return cells.Path(line.path) if line.path else cells.absent("no znode was written")


def _zxid(line: AuditEntry) -> Cell:
    return cells.known(line.zxid, cells.Zxid, "no transaction")


def _hash(value: str, why: str) -> Cell:
    return cells.Text(value) if value else cells.absent(why)


ABOUT_ONE: tuple[Column[AuditEntry], ...] = (
    Column("at", "When", lambda line: cells.Moment(line.at), is_sortable=False),
    Column("id", "Line", lambda line: cells.Head(line.id), is_number=True, is_sortable=False),
    Column("who", "Who", lambda line: cells.Text(line.who), is_sortable=False),
    Column(
        "event",
        "What",
        lambda line: action_cells.Event(line.event, audit_words.words(line)),
        is_sortable=False,
    ),
    Column("step", "Step", _step, is_number=True, is_sortable=False),
    Column("path", "Path", _path, is_sortable=False),
    Column("zxid", "zxid", _zxid, is_number=True, is_sortable=False),
    Column("detail", "Detail", lambda line: action_cells.Document(line.detail), is_sortable=False),
)
COLUMNS: tuple[Column[AuditEntry], ...] = (
    *ABOUT_ONE[:4],
    Column("action", "Action", _action, is_number=True, is_sortable=False),
    *ABOUT_ONE[4:],
)
# What JSON and CSV have beside that: SHA-256 of the data before and after, and of the line.
FIELDS: tuple[Column[AuditEntry], ...] = (
    *COLUMNS,
    Column("before", "Before", lambda line: _hash(line.before, "there was no data")),
    Column("after", "After", lambda line: _hash(line.after, "there is no data")),
    Column("hash", "Hash", lambda line: cells.Text(line.hash)),
)
