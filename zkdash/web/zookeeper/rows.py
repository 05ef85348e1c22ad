"""Znodes as rows of a table: the children of one, and those that a session owns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.query import Query, Selection, window
from zkdash.kafka.values import Problem
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.tables import Column
from zkdash.web.zookeeper import facts
from zkdash.web.zookeeper import text as znode_text
from zkdash.znode import Stat


class Row(NamedTuple):
    """One znode: `name` is what the row is called, `why` says why there is no Stat."""

    cluster: str
    path: str
    name: str
    stat: Stat | None
    children: int | None
    why: str = ""

    @property
    def kind(self) -> str | None:
        if self.stat is None:
            return None
        return facts.kind(self.path.rpartition("/")[2], self.stat.ephemeral_owner)

    @property
    def session(self) -> int | None:
        return None if self.stat is None else self.stat.ephemeral_owner or None


class Name(Cell, frozen=True):
    """The znode that the row is about; whatever its name holds shows."""

    text: str
    href: str

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        shown = znode_text.name(self.text)
        return format_html(
            '<th scope="row" class="name"><a href="{}"><bdi>{}</bdi></a></th>', self.href, shown
        )


class Owner(Cell, frozen=True):
    """The session that owns a znode, with all that it owns."""

    session: int
    href: str

    @property
    def plain(self) -> str:
        return links.session_text(self.session)

    def html(self) -> SafeString:
        return format_html('<td class="session"><a href="{}"><code>{}</code></a></td>', self.href, self.plain)


# What a row is sorted by, where all rows are known.
KEYS: Final[dict[str, Callable[[Row], Any]]] = {
    "name": lambda row: row.name,
    "kind": lambda row: row.kind,
    "children": lambda row: row.children,
    "size": lambda row: row.stat and row.stat.data_length,
    "version": lambda row: row.stat and row.stat.version,
    "modified": lambda row: row.stat and row.stat.mtime,
    "owner": lambda row: row.session,
}
_KIND = "kind:"
_KIND_TITLE = "its name tells that it is sequential; ZooKeeper tells nobody of containers and TTLs"


def select(
    names: Sequence[str],
    query: Query,
    row: Callable[[str], Row],
    rows: Callable[[Sequence[str]], Iterable[Row]] | None = None,
) -> Selection[Row]:
    """The page of rows that a query asks for, of names in their order.

    Only the names are looked at unless the query asks for more, so that 100 000 cost little. `rows` makes
    those that are shown where they are better made at once.
    """
    matching = _matching(names, query.q, row)
    key, falls = query.order(KEYS)
    if key in {None, "name"}:
        matching = matching[::-1] if falls else matching
    else:
        keyed = [(KEYS[str(key)](row(name)), name) for name in matching]
        valued = sorted(
            (pair for pair in keyed if pair[0] is not None), key=lambda pair: pair[0], reverse=falls
        )
        matching = [name for _, name in valued] + [name for value, name in keyed if value is None]
    page, pages, cut = window(query, len(matching))
    shown = matching[cut]
    made = tuple(map(row, shown) if rows is None else rows(shown))
    return Selection(made, len(names), len(matching), page, pages, {})


def _matching(names: Sequence[str], q: str, row: Callable[[str], Row]) -> Sequence[str]:
    terms = set(q.casefold().split())
    kinds = [term.removeprefix(_KIND) for term in terms if term.startswith(_KIND)]
    words = [term for term in terms if not term.startswith(_KIND)]
    if words:
        names = [name for name in names if all(word in name.casefold() for word in words)]
    if kinds:
        names = [name for name in names if _is_of(row(name), kinds)]
    return names


def _is_of(row: Row, kinds: Sequence[str]) -> bool:
    kind_of_row = (row.kind or "").casefold()
    return all(kind in kind_of_row for kind in kinds)


def table(
    part: str, columns: Sequence[Column[Row]], rows: Iterable[Row], snapshot: Snapshot, empty: tables.Empty
) -> Any:
    """The live rows, each with the severity of what is wrong with it."""
    problems = snapshot.state.problems
    lines = ((links.element_id("znode", row.path), _severity(problems.get(row.path)), row) for row in rows)
    return tables.part(part, columns, lines, empty)


def _severity(problem: Problem | None) -> Severity:
    if problem is None:
        return Severity.OK
    return Severity.CRITICAL if problem.critical else Severity.WARNING


def _of(row: Row, cell: Callable[[Stat], Cell]) -> Cell:
    return cells.unknown(row.why) if row.stat is None else cell(row.stat)


def _kind(row: Row) -> Cell:
    return cells.unknown(row.why) if row.kind is None else cells.Text(row.kind)


def _children(row: Row) -> Cell:
    return cells.unknown(row.why) if row.children is None else cells.Number(row.children)


def _owner(row: Row) -> Cell:
    if row.stat is None:
        return cells.unknown(row.why)
    if row.session is None:
        return cells.absent("no session owns it: it is not ephemeral")
    return Owner(row.session, links.session(row.cluster, row.session))


COLUMNS: Final[tuple[Column[Row], ...]] = (
    Column("name", "Name", lambda row: Name(row.name, links.znode(row.cluster, row.path))),
    Column("kind", "Kind", _kind, title=_KIND_TITLE),
    Column("children", "Children", _children, is_number=True),
    Column(
        "size",
        "Size",
        lambda row: _of(row, lambda stat: cells.Number(stat.data_length)),
        is_number=True,
        title="bytes of its data",
    ),
    Column(
        "version",
        "Version",
        lambda row: _of(row, lambda stat: cells.Id(stat.version)),
        is_number=True,
        title="how often its data was written",
    ),
    Column("modified", "Modified", lambda row: _of(row, lambda stat: cells.Moment(stat.mtime))),
    Column("owner", "Owner session", _owner),
)
# Where of all rows only the names are known, rows are sorted by them alone.
NAMES_ONLY: Final = tuple(
    msgspec.structs.replace(column, is_sortable=column.name == "name") for column in COLUMNS
)
SPEC: Final = listing.Spec(sorts=tuple(column.name for column in COLUMNS))
