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
from zkdash.web.frame.tables import Empty, ListColumn

_ROW_ACTIONS = (
    ("Reassign…", "reassign"),
    ("Elect preferred leaders…", "elect-preferred"),
    ("Delete…", "delete-topic"),
)


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    state = snapshot.state
    columns = tables.of_layout(COLUMNS, state.layout)
    found = topic_queries.select_topics(state, query, tables.keys(columns))
    acts = state.layout is not Layout.V07  # whose topics nothing can be asked of
    shown = row_selection.columns(key, "topic", lambda one: one[1].summary.name, columns) if acts else columns
    table = tables.part(
        "topics-rows",
        shown,
        (
            (links.element_id("topic", row.summary.name), row.summary.tone, (snapshot.cluster, row))
            for row in found.rows
        ),
        _empty(snapshot, query),
        problems=lambda one: links.problems(one[0], paths.topic(one[1].summary.name)),
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


def _empty(snapshot: Snapshot, query: topic_queries.Query) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Topics are not known before the first load from ZooKeeper.")
    if snapshot.state.topics:
        return Empty(f"No topic matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("No topics in ZooKeeper yet. They appear under /brokers/topics.")


def _number(value: Known[int], why: str) -> Cell:
    return cells.known(value, cells.Number, why)


def _of_replicas(topic: TopicRow, number: int, alert: Tone) -> Cell:
    """A count of partitions by what their replicas do."""
    if topic.summary.layout is Layout.V07:
        return cells.absent("layout 0.7 has no replicas")
    return cells.Number(number, alert=alert)


_NO_ASSIGNMENT = "the topic's znode holds no assignment"

COLUMNS: tuple[ListColumn[TopicRow], ...] = (
    ListColumn(
        "status",
        "Status",
        lambda one: cells.Status(one[1].summary.tone, one[1].summary.words),
        key=lambda topic: topic.summary.tone.rank,
    ),
    ListColumn(
        "name",
        "Name",
        lambda one: cells.Name(one[1].summary.name, links.topic(one[0], one[1].summary.name)),
        key=lambda topic: topic.summary.name,
    ),
    ListColumn(
        "partitions",
        "Partitions",
        lambda one: _number(one[1].partitions, _NO_ASSIGNMENT),
        is_number=True,
        key=lambda topic: topic.summary.partitions,
    ),
    ListColumn(
        "replication",
        "Replication",
        lambda one: cells.known(one[1].replication, lambda sizes: cells.Range(*sizes), _NO_ASSIGNMENT),
        is_number=True,
        key=lambda topic: topic.summary.replication,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "under_replicated",
        "Under-replicated",
        lambda one: _of_replicas(one[1], one[1].summary.under_replicated, Tone.WARNING),
        is_number=True,
        key=lambda topic: topic.summary.under_replicated,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "offline",
        "Offline",
        lambda one: _of_replicas(one[1], one[1].summary.offline, Tone.CRITICAL),
        is_number=True,
        key=lambda topic: topic.summary.offline,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "preferred_leaders_percent",
        "Preferred leaders %",
        lambda one: cells.known(
            one[1].preferred_percent, cells.Percent, "no partition has a leader to compare"
        ),
        is_number=True,
        key=lambda topic: topic.preferred_percent,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "groups",
        "Groups",
        lambda one: cells.Number(one[1].groups),
        is_number=True,
        key=lambda topic: topic.groups,
    ),
    ListColumn(
        "config",
        "Config",
        lambda one: _number(one[1].overrides, "no config znode"),
        is_number=True,
        key=lambda topic: topic.summary.overrides,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "marks", "Marks", lambda one: cells.Marks(one[1].marks), is_sortable=False, layouts=tables.FROM_08
    ),
    ListColumn(
        "changed",
        "Changed",
        lambda one: cells.known(one[1].summary.changed or None, cells.Moment, "no znode to read"),
        key=lambda topic: topic.summary.changed or None,
    ),
)
SPEC = listing.Spec(sorts=tuple(tables.keys(COLUMNS)))

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
