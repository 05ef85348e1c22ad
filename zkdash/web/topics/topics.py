"""Topics: every topic with what is wrong with it, worst first."""

from __future__ import annotations

from zkdash.cluster.model import ranking
from zkdash.cluster.model.known import Known
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import filters, topic_queries
from zkdash.cluster.tables.topic_rows import TopicRow
from zkdash.kafka import paths
from zkdash.kafka.values import Layout
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, row_selection, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Badge, Page, View
from zkdash.web.frame.panels import lag_cells
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
    selection = topic_queries.select_topics(
        state,
        query,
        tables.keys(columns),
        snapshot.lags,
        snapshot.observations.standing,
        orders=snapshot.orders,
    )
    acts = state.layout is not Layout.V07  # whose topics nothing can be asked of
    shown = (
        row_selection.columns(key, "topic", lambda entry: entry[1].summary.name, columns) if acts else columns
    )
    table = tables.part(
        "topics-rows",
        shown,
        (
            (links.element_id("topic", row.summary.name), row.summary.severity, (snapshot.cluster, row))
            for row in selection.rows
        ),
        _empty(snapshot, query),
        problems=lambda entry: links.problems(entry[0], paths.topic(entry[1].summary.name)),
    )
    return View(
        title="Topics",
        parts=(table, *listing.blocks(SPEC, query, selection, "topics")),
        context={
            **listing.context(SPEC, query, shown, "Filter: text, broker:3, rack:a"),
            "toggle": listing.toggle(
                SPEC, query, filters.NOT_INTERNAL, "Show internal topics", "Hide internal topics"
            ),
            **(row_selection.context(key, "topics", *_ROW_ACTIONS) if acts else {}),
            "action_links": row_selection.action_links(key, ("Create a topic…", "create-topic", ()))
            if acts
            else (),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot.cluster, row) for row in selection.rows)),
        total=selection.matched,
    )


def _empty(snapshot: Snapshot, query: topic_queries.Query) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Topics are not known before the first load from ZooKeeper.")
    if snapshot.state.topics:
        return Empty(f"No topic matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("No topics in ZooKeeper yet. They appear under /brokers/topics.")


def _number(value: Known[int], why: str) -> Cell:
    return cells.known(value, cells.Number, why)


def _of_replicas(topic: TopicRow, number: int, alert: Severity) -> Cell:
    """A count of partitions by what their replicas do."""
    if topic.summary.layout is Layout.V07:
        return cells.absent("layout 0.7 has no replicas")
    return cells.Number(number, alert=alert)


_NO_ASSIGNMENT = "the topic's znode holds no assignment"

COLUMNS: tuple[ListColumn[TopicRow], ...] = (
    ListColumn(
        "status",
        "Status",
        lambda entry: cells.Status(entry[1].summary.severity, entry[1].summary.words),
        key=lambda topic: ranking.place(topic.summary),
    ),
    ListColumn(
        "name",
        "Name",
        lambda entry: cells.Name(entry[1].summary.name, links.topic(entry[0], entry[1].summary.name)),
        key=lambda topic: topic.summary.name,
    ),
    ListColumn(
        "partitions",
        "Partitions",
        lambda entry: _number(entry[1].partitions, _NO_ASSIGNMENT),
        is_number=True,
        key=lambda topic: topic.summary.partitions,
    ),
    ListColumn(
        "replication",
        "Replication",
        lambda entry: cells.known(entry[1].replication, lambda sizes: cells.Range(*sizes), _NO_ASSIGNMENT),
        is_number=True,
        key=lambda topic: topic.summary.replication,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "under_replicated",
        "Under-replicated",
        lambda entry: _of_replicas(entry[1], entry[1].summary.under_replicated, Severity.WARNING),
        is_number=True,
        key=lambda topic: topic.summary.under_replicated,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "offline",
        "Offline",
        lambda entry: _of_replicas(entry[1], entry[1].summary.offline, Severity.CRITICAL),
        is_number=True,
        key=lambda topic: topic.summary.offline,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "preferred_leaders_percent",
        "Preferred leaders %",
        lambda entry: cells.known(
            entry[1].preferred_percent, cells.Percent, "no partition has a leader to compare"
        ),
        is_number=True,
        key=lambda topic: topic.preferred_percent,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "groups",
        "Groups",
        lambda entry: cells.Number(entry[1].groups),
        is_number=True,
        key=lambda topic: topic.groups,
    ),
    ListColumn(
        "lag",
        "Lag",
        lambda entry: lag_cells.of_topic(entry[1].consumers, entry[1].lags.otherwise),
        is_number=True,
        title="messages that all its groups together have left to read, as far as it is known",
        key=topic_queries.LagKey(lambda consumers: consumers.least),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "config",
        "Config",
        lambda entry: _number(entry[1].overrides, "no config znode"),
        is_number=True,
        key=lambda topic: topic.summary.overrides,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "marks", "Marks", lambda entry: cells.Marks(entry[1].marks), is_sortable=False, layouts=tables.FROM_08
    ),
    ListColumn(
        "changed",
        "Changed",
        lambda entry: cells.known(entry[1].summary.changed or None, cells.Moment, "no znode to read"),
        key=lambda topic: topic.summary.changed or None,
    ),
)
SPEC = listing.Spec(sorts=tuple(tables.keys(COLUMNS)))

PAGE = Page(
    name="topics",
    route="topics/",
    template="topics/topics.html",
    look=look,
    areas=frozenset({"topics", "brokers", "admin", "lags", "findings"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS,)),
    label="Topics",
    letter="t",
    badge=lambda snapshot: Badge(snapshot.state.counts.topics),
    render_key=lambda snapshot, _: snapshot.state.consumers,  # groups change with every offset, this seldom
)
