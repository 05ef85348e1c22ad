"""Differences znode by znode: what each of them held at two moments of a cluster, line by line."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Past, Snapshot
from zkdash.web.differences import query as queries
from zkdash.web.differences.query import DifferencesQuery
from zkdash.web.frame import cells, links, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.panels import diffs
from zkdash.web.frame.tables import Column
from zkdash.znode import Znode

# So many lines of one znode are drawn; JSON and CSV have so many characters of its data.
_MOST_LINES: Final = 60
_MOST_TEXT: Final = 64 * 1024


class ZnodeDifference(msgspec.Struct, frozen=True):
    """A znode as it was and as it is; None where it is not there."""

    path: str
    was: Znode | None
    now: Znode | None

    @property
    def word(self) -> str:
        """What became of it."""
        if self.was is None:
            return "made"
        if self.now is None:
            return "gone"
        if self.was.czxid != self.now.czxid:
            return "made anew"
        return "written" if self.was.data != self.now.data else "other ACL"

    @property
    def versions(self) -> str:
        """The versions of its data, before and after."""
        if self.was is None or self.now is None:
            return ""
        return f"version {self.was.version} → {self.now.version}"

    @property
    def lines(self) -> tuple[diffs.Line, ...]:
        """Its data, line by line."""
        before, after = (znode.data if znode is not None else None for znode in (self.was, self.now))
        return diffs.lines(before, after, _MOST_LINES) if before != after else ()


class Listed(msgspec.Struct, frozen=True):
    """One difference as the template draws it."""

    href: str
    difference: ZnodeDifference


def look(snapshot: Snapshot, key: PageKey) -> View:
    """The page; a form alone where no two moments are compared."""
    query = queries.understood(key.query)
    every = _every(snapshot.past)
    shown = queries.page_of(
        every, query, lambda each: query.means(queries.area_of(each.path), each.path, each.path)
    )
    listed = tuple(
        Listed("" if each.now is None else links.znode(snapshot.cluster, each.path), each)
        for each in shown.rows
    )
    values = (listed, _empty(snapshot, query))
    return View(
        title="Differences, znode by znode",
        parts=(
            Block(id="znodes", template="differences/znode_list.html", values=values),
            *shown.parts(query, "znodes"),
        ),
        context={
            **queries.context(snapshot, query, queries.ZNODES_ROUTE),
            "counts": queries.counts(
                query, (queries.area_of(each.path) for each in every if query.is_of(each.path))
            ),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, shown.rows),
        total=shown.matched,
        extra=lambda: queries.record(snapshot),
    )


def _every(past: Past | None) -> list[ZnodeDifference]:
    if past is None or past.earlier is None:
        return []
    return [ZnodeDifference(path, was, now) for path, (was, now) in past.earlier.changed.items()]


def _empty(snapshot: Snapshot, query: DifferencesQuery) -> str:
    if snapshot.past is None or snapshot.past.earlier is None:
        return "Choose two moments: the znodes that differ are listed here."
    return "No znode that differs matches." if query.filters else "No znode differs."


def _data(znode: Znode | None) -> Cell:
    if znode is None:
        return cells.absent("it was not there then")
    if znode.data is None:
        return cells.absent("it held no data")
    return cells.Text(znode.data.decode("utf-8", "backslashreplace")[:_MOST_TEXT])


def _version(znode: Znode | None) -> Cell:
    return cells.absent("it was not there then") if znode is None else cells.Id(znode.version)


COLUMNS: tuple[Column[ZnodeDifference], ...] = (
    Column("path", "Path", lambda each: cells.Path(each.path)),
    Column("became", "What became of it", lambda each: cells.Text(each.word)),
    Column("version_before", "Version before", lambda each: _version(each.was), is_number=True),
    Column("version_after", "Version after", lambda each: _version(each.now), is_number=True),
    Column("before", "Before", lambda each: _data(each.was)),
    Column("after", "After", lambda each: _data(each.now)),
)

PAGE = Page(
    name="znode-differences",
    route=queries.ZNODES_ROUTE,
    template="differences/znode_differences.html",
    look=look,
    canonical=queries.canonical,
    shape=shapes.Shape((COLUMNS,), queries.EXTRA, parameters=queries.SCHEMAS),
    compares=True,
)
