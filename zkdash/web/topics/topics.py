"""Topics: every topic with what is wrong with it, worst first."""

from __future__ import annotations

from zkdash.cluster.model.known import Known
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.topic_rows import TopicRow
from zkdash.kafka import paths
from zkdash.kafka.values import Layout
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, row_selection, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty

Entry = tuple[str, TopicRow]  # the cluster's name, and the topic

_ROW_ACTIONS = (
    ("Reassign…", "reassign"),
    ("Elect preferred leaders…", "elect-preferred"),
    ("Delete…", "delete-topic"),
)
_NOT_IN_07 = frozenset(
    {"replication", "under_replicated", "offline", "preferred_leaders_percent", "config", "marks"}
)


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    state = snapshot.state
    found = topic_queries.select_topics(state, query)
    columns = _columns(snapshot)
    acts = snapshot.state.layout is not Layout.V07  # whose topics nothing can be asked of
    shown = row_selection.columns(key, "topic", lambda one: one[1].name, columns) if acts else columns
    table = tables.part(
        "topics-rows",
        shown,
        ((links.element_id("topic", row.name), row.status, (snapshot.cluster, row)) for row in found.rows),
        _empty(snapshot, query),
        problems=lambda one: links.problems(one[0], paths.topic(one[1].name)),
    )
    return View(
        title="Topics",
        parts=(table, *listing.blocks(SPEC, query, found, "topics")),
        context={
            **listing.context(SPEC, query, shown, "Filter: text, broker:3, rack:a"),
            **(row_selection.context(key, "topics", *_ROW_ACTIONS) if acts else {}),
            "action_links": row_selection.action_links(key, ("Create a topic…", "create-topic", ()))
            if acts
            else (),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot.cluster, row) for row in found.rows)),
        total=found.matched,
    )


def _columns(snapshot: Snapshot) -> tuple[Column[Entry], ...]:
    """All columns but those that the cluster's layout cannot fill."""
    if snapshot.state.layout is not Layout.V07:
        return COLUMNS
    return tuple(column for column in COLUMNS if column.name not in _NOT_IN_07)


def _empty(snapshot: Snapshot, query: topic_queries.Query) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Topics are not known before the first load from ZooKeeper.")
    if snapshot.state.topics:
        return Empty(f"No topic matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("No topics in ZooKeeper yet. They appear under /brokers/topics.")


def _replication(sizes: tuple[int, int]) -> Cell:
    return cells.Range(*sizes)


def _cell(value: Known[int], why: str, alert: Tone | None = None) -> Cell:
    return cells.known(value, lambda number: cells.Number(number, alert=alert), why)


_NO_ASSIGNMENT = "the topic's znode holds no assignment"
_LAYOUT_07 = "layout 0.7 has no replicas"

COLUMNS: tuple[Column[Entry], ...] = (
    Column("status", "Status", lambda one: cells.Status(one[1].status, one[1].words)),
    Column("name", "Name", lambda one: cells.Name(one[1].name, links.topic(one[0], one[1].name))),
    Column("partitions", "Partitions", lambda one: _cell(one[1].partitions, _NO_ASSIGNMENT), is_number=True),
    Column(
        "replication",
        "Replication",
        lambda one: cells.known(one[1].replication, _replication, _NO_ASSIGNMENT),
        is_number=True,
    ),
    Column(
        "under_replicated",
        "Under-replicated",
        lambda one: _cell(one[1].under_replicated, _LAYOUT_07, Tone.WARNING),
        is_number=True,
    ),
    Column(
        "offline", "Offline", lambda one: _cell(one[1].offline, _LAYOUT_07, Tone.CRITICAL), is_number=True
    ),
    Column(
        "preferred_leaders_percent",
        "Preferred leaders %",
        lambda one: cells.known(
            one[1].preferred_leaders_percent, cells.Percent, "no partition has a leader to compare"
        ),
        is_number=True,
    ),
    Column("groups", "Groups", lambda one: cells.Number(one[1].groups), is_number=True),
    Column("config", "Config", lambda one: _cell(one[1].config, "no config znode"), is_number=True),
    Column("marks", "Marks", lambda one: cells.Marks(one[1].marks), is_sortable=False),
    Column("changed", "Changed", lambda one: cells.known(one[1].changed, cells.Moment, "no znode to read")),
)
SPEC = listing.Spec(sorts=tuple(column.name for column in COLUMNS if column.is_sortable))

PAGE = Page(
    name="topics",
    route="topics/",
    template="topics/topics.html",
    look=look,
    areas=frozenset({"topics", "brokers", "admin"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS,)),
    label="Topics",
    letter="t",
    count=lambda snapshot: snapshot.state.counts.topics,
    render_key=lambda snapshot, _: snapshot.state.consumers,  # groups change with every offset, this seldom
)
