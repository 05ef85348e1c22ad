"""Problems: every znode that does not parse, with the reason and its first bytes."""

from __future__ import annotations

from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import problem_rows, topic_queries
from zkdash.cluster.tables.problem_rows import ProblemRow
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.page import Badge, Page, View
from zkdash.web.frame.tables import Empty, ListColumn


class Raw(Cell, frozen=True):
    """The first bytes of a znode as text: what is no UTF-8, or would not show, is written as an escape."""

    head: bytes

    @property
    def plain(self) -> str:
        text = self.head.decode("utf-8", "backslashreplace")
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)

    def html(self) -> SafeString:
        return format_html('<td class="raw"><code><bdi>{}</bdi></code></td>', self.plain)


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    selection = problem_rows.select(snapshot.state, snapshot.first_seen, query, tables.keys(COLUMNS))
    table = tables.part(
        "problems-rows",
        COLUMNS,
        (
            (links.element_id("problem", row.path), row.status, (snapshot.cluster, row))
            for row in selection.rows
        ),
        _empty(snapshot, query),
    )
    return View(
        title="Problems",
        parts=(table, *listing.blocks(SPEC, query, selection, "problems")),
        context=listing.context(SPEC, query, COLUMNS, "Filter: path or reason"),
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot.cluster, row) for row in selection.rows)),
        total=selection.matched,
    )


def _empty(snapshot: Snapshot, query: topic_queries.Query) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Problems are not known before the first load from ZooKeeper.")
    if snapshot.state.problems:
        return Empty(f"No problem matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("Every znode that Kafka and its consumers wrote parses.")


def _raw(row: ProblemRow) -> Cell:
    if row.secret:
        return cells.unknown("its path may hold secrets, so its bytes are not kept")
    return Raw(row.raw) if row.raw else cells.absent("the znode is empty")


COLUMNS: tuple[ListColumn[ProblemRow], ...] = (
    ListColumn(
        "status",
        "Status",
        lambda entry: cells.Status(entry[1].status, entry[1].status.value),
        key=lambda row: row.status.rank,
    ),
    ListColumn(
        "path",
        "Path",
        lambda entry: cells.Path(entry[1].path, is_head=True, cluster=entry[0]),
        key=lambda row: row.path,
    ),
    ListColumn("reason", "Reason", lambda entry: cells.Text(entry[1].reason), key=lambda row: row.reason),
    ListColumn(
        "first_seen",
        "First seen",
        lambda entry: cells.known(entry[1].first_seen, cells.Moment, "it was there before anybody looked"),
        title="when this process first read it so",
        key=lambda row: row.first_seen,
    ),
    ListColumn("raw", "Raw", lambda entry: _raw(entry[1]), is_sortable=False, title="its first 200 bytes"),
)
SPEC = listing.Spec(sorts=tuple(tables.keys(COLUMNS)))

PAGE = Page(
    name="problems",
    route="problems/",
    template="checks/problems.html",
    look=look,
    areas=frozenset({"problems"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS,)),
    section="Attention",
    label="Problems",
    badge=lambda snapshot: Badge(len(snapshot.state.problems), Severity.WARNING),
)
