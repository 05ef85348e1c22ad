"""Tables from declared columns: the same columns give the header, the live rows, JSON and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.query import Keys
from zkdash.kafka.values import Layout
from zkdash.live.parts import Row, Table
from zkdash.live.sockets.pace import breathing
from zkdash.web.frame.cells import Cell, Missing, Record

R = TypeVar("R")

EVERY_LAYOUT = frozenset(Layout)
FROM_08 = EVERY_LAYOUT - {Layout.V07}
ONLY_07 = frozenset({Layout.V07, Layout.MIXED})


class Column(msgspec.Struct, Generic[R], frozen=True):
    """One column: `name` is its field in JSON and its key in `?sort=`, `cell` what it shows of a row.

    Of a quiet one a change alone is not marked: it moves all the time, as a committed offset does. One that
    is not shown is for JSON, CSV and `?sort=` only: another column says the same to the eye.
    """

    name: str
    heading: str
    cell: Callable[[R], Cell]
    is_number: bool = False
    is_sortable: bool = True
    title: str = ""
    is_quiet: bool = False
    is_shown: bool = True


class ListColumn(Column[tuple[str, R]], Generic[R], frozen=True):
    """One column of a list of a cluster's values: all that there is to say of it.

    `cell` is asked with the cluster's name and the value, `key` with the value alone: what it sorts by, None
    where there is none, which stands last. `layouts` are those whose clusters can fill it.
    """

    key: Callable[[R], Any] | None = None
    layouts: frozenset[Layout] = EVERY_LAYOUT

    def __post_init__(self) -> None:
        if self.is_sortable != (self.key is not None):
            raise TypeError(f"the column {self.name!r} has a key where it sorts, and only there")


class Line(msgspec.Struct, frozen=True):
    """A row's values: its worst severity, and its cells in the order of the columns."""

    severity: Severity
    cells: tuple[Cell, ...]


class Heading(msgspec.Struct, frozen=True):
    """A column's header as the template draws it; `aria` is "none" where it could sort but does not."""

    text: str
    is_number: bool
    title: str
    href: str = ""
    aria: str = ""
    arrow: str = ""
    is_quiet: bool = False


class Empty(msgspec.Struct, frozen=True):
    """Why a table has no rows, in a sentence, with a link that helps where there is one."""

    sentence: str
    href: str = ""
    link: str = ""


def part(
    id: str,  # noqa: A002 - the element's id
    columns: Sequence[Column[R]],
    rows: Iterable[tuple[str, Severity, R]],
    empty: Empty | None,
    problems: Callable[[R], str] | None = None,
) -> Table:
    """The live <tbody> of (element id, severity, row) in their order.

    `problems` is the address of what does not parse of a row: where its `?` cells lead.
    """
    lines = tuple(
        Row(
            id=row_id,
            values=Line(severity=severity, cells=tuple(_cell(column, row, problems) for column in columns)),
        )
        for row_id, severity, row in breathing(rows)
    )
    return Table(
        id=id,
        rows=lines,
        empty=None if lines else (empty, len(columns)),
    )


def _cell(column: Column[R], row: R, problems: Callable[[R], str] | None) -> Cell:
    """The cell, aligned with the column's numbers even where it holds none."""
    cell = column.cell(row)
    if not isinstance(cell, Missing):
        return cell
    href = problems(row) if problems and cell.is_unparsable else ""
    if not (column.is_number or href):
        return cell
    return msgspec.structs.replace(cell, is_number=column.is_number, href=href)


def records(columns: Sequence[Column[R]], rows: Iterable[R]) -> Iterable[Record]:
    """The rows as JSON has them: plain values, and `<name>_reason` beside each null."""
    for row in rows:
        record: Record = {}
        for column in columns:
            cell = column.cell(row)
            record[column.name] = cell.plain
            if cell.plain is None:
                record[f"{column.name}_reason"] = cell.reason
        yield record


def fields(columns: Sequence[Column[Any]]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def of_layout(columns: Sequence[ListColumn[R]], layout: Layout) -> tuple[ListColumn[R], ...]:
    """The columns that a cluster of this layout can fill."""
    return tuple(column for column in columns if layout in column.layouts)


def shown(columns: Sequence[Column[R]]) -> tuple[Column[R], ...]:
    """The columns that the page's own table has."""
    return tuple(column for column in columns if column.is_shown)


def keys(columns: Sequence[ListColumn[R]]) -> Keys[R]:
    """What a query may sort by."""
    return {column.name: column.key for column in columns if column.key is not None}


def headings(
    columns: Sequence[Column[Any]], sort: str, link: Callable[[str], str] | None = None
) -> tuple[Heading, ...]:
    """The header row; `sort` is the query's ("-name" falls), `link` makes the address of another sort."""
    return tuple(_heading(column, sort, link) for column in columns)


def _heading(column: Column[Any], sort: str, link: Callable[[str], str] | None) -> Heading:
    if link is None or not column.is_sortable:
        return Heading(column.heading, column.is_number, column.title, is_quiet=column.is_quiet)
    falls = sort == f"-{column.name}"
    rises = sort == column.name
    # Numbers are asked for biggest first; a second click turns the order round.
    first = f"-{column.name}" if column.is_number else column.name
    other = column.name if falls else f"-{column.name}" if rises else first
    return Heading(
        column.heading,
        column.is_number,
        column.title,
        href=link(other),
        aria="descending" if falls else "ascending" if rises else "none",
        arrow="▼" if falls else "▲" if rises else "",
        is_quiet=column.is_quiet,
    )
