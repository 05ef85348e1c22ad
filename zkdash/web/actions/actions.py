"""Actions: what somebody wants done to the cluster, what is at work, and how the newest others ended."""

from __future__ import annotations

from zkdash.actions.reading import queries
from zkdash.actions.reading.entries import Entry
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.query import Query
from zkdash.live.parts import PageKey, Text
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import cells as action_cells
from zkdash.web.frame import cells, links, listing, row_selection, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Badge, Page, View
from zkdash.web.frame.tables import Column, Empty

NAME = "actions"


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    selection = queries.select(snapshot.queue.entries, query)
    table = tables.part(
        "actions-rows",
        COLUMNS,
        ((f"action-{entry.id}", queries.severity(entry), entry) for entry in selection.rows),
        _empty(snapshot, query),
    )
    return View(
        title="Actions",
        parts=(
            table,
            *listing.blocks(SPEC, query, selection, "actions"),
            _trouble(snapshot),
            _more(snapshot),
        ),
        context={
            **listing.context(SPEC, query, COLUMNS, "Filter: text, kind:reassign, by:…, state:queued"),
            "audit": links.audit(snapshot.cluster),
            "action_links": row_selection.every(key),
        },
        fields=tables.fields(FIELDS),
        records=lambda: tables.records(FIELDS, selection.rows),
        total=selection.matched,
    )


def _trouble(snapshot: Snapshot) -> Text:
    """Why what is shown may be old, "" while the database answers."""
    sentence = snapshot.queue.trouble
    return Text("trouble", f"{sentence} This is what was known before." if sentence else "")


def _more(snapshot: Snapshot) -> Text:
    return Text("more", "Older ones are in the audit." if snapshot.queue.more else "")


def _empty(snapshot: Snapshot, query: Query) -> Empty:
    if not snapshot.queue.read:
        return Empty("Actions are not known before zkdash’s database was read.")
    if snapshot.queue.entries:
        return Empty(f"No action matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("No actions yet. They begin on the pages of topics, groups and brokers.")


def _took(entry: Entry) -> Cell:
    if entry.took_ms is None:
        return cells.absent("it has not been started and ended")
    return action_cells.Took(entry.took_ms)


def _started(entry: Entry) -> Cell:
    return cells.known(entry.started, cells.Moment, "it has not been started")


# Which action it is and how it stands: the Overview's table of running ones begins so too.
WHICH: tuple[Column[Entry], ...] = (
    Column(
        "id",
        "Action",
        lambda entry: action_cells.ActionId(entry.id, links.action(entry.cluster, entry.id)),
        is_number=True,
    ),
    Column("kind", "Kind", lambda entry: action_cells.Kind(entry.kind)),
    Column("target", "Target", lambda entry: cells.Text(entry.target)),
    Column("by", "By", lambda entry: cells.Text(entry.by)),
    Column("status", "Status", action_cells.status),
)
COLUMNS: tuple[Column[Entry], ...] = (
    Column("requested", "Requested", lambda entry: cells.Moment(entry.requested)),
    *WHICH,
    Column("started", "Started", _started),
    Column("took", "Took", _took, is_number=True),
    Column("result", "Result", action_cells.progress, is_sortable=False),
)
# JSON and CSV have the state by its own word too.
FIELDS: tuple[Column[Entry], ...] = (
    *COLUMNS,
    Column("state", "State", lambda entry: cells.Text(entry.state)),
    Column("reason", "Reason", lambda entry: cells.Text(entry.reason)),
    Column(
        "not_before",
        "Not before",
        lambda entry: cells.known(entry.not_before, cells.Moment, "it may begin at once"),
    ),
)
SPEC = listing.Spec(sorts=queries.SORTS)

PAGE = Page(
    name=NAME,
    route="actions/",
    template="actions/actions.html",
    look=look,
    areas=frozenset({"actions"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((FIELDS,)),
    section="Attention",
    label="Actions",
    letter="a",
    badge=lambda snapshot: Badge(len(snapshot.queue.in_flight), Severity.INFO),
    no_past="Actions are told with all that became of them since; there is no other list of the past.",
)
