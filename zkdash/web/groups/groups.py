"""Groups: every consumer group that ZooKeeper holds or brokers list, what is wrong with it and its lag."""

from __future__ import annotations

from zkdash.cluster.model import ranking
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.groups import queries as group_queries
from zkdash.cluster.tables.groups.queries import Known, LagKey
from zkdash.cluster.tables.groups.rows import GroupRow
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, row_selection, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Badge, Page, View
from zkdash.web.frame.panels import lag_cells
from zkdash.web.frame.tables import Empty, ListColumn
from zkdash.web.groups import cells as group_cells

_PATTERN = "members subscribe by a pattern; the group's page resolves it"


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    selection = group_queries.select_groups(_known(snapshot), query, tables.keys(FIELDS))
    columns = tables.of_layout(COLUMNS, snapshot.state.layout)
    shown = row_selection.columns(key, "group", _pickable, columns)
    table = tables.part(
        "groups-rows",
        shown,
        (
            (links.element_id("group", row.name), row.severity, (snapshot.cluster, row))
            for row in selection.rows
        ),
        _empty(snapshot, query),
    )
    return View(
        title="Groups",
        parts=(table, *listing.blocks(SPEC, query, selection, "groups")),
        context={
            **listing.context(SPEC, query, shown, "Filter: text, topic:a, lag:>1000, state:empty"),
            **row_selection.context(
                key, "groups", ("Reset offsets…", "reset-offsets"), ("Delete…", "delete-group")
            ),
        },
        fields=tables.fields(FIELDS),
        records=lambda: tables.records(FIELDS, ((snapshot.cluster, row) for row in selection.rows)),
        total=selection.matched,
    )


def _pickable(entry: tuple[str, GroupRow]) -> str | None:
    """The name of a group that actions can be asked of."""
    return None if entry[1].summary is None else entry[1].name


def _empty(snapshot: Snapshot, query: topic_queries.Query) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Groups are not known before the first load from ZooKeeper.")
    if snapshot.state.groups or snapshot.kafka_groups.groups:
        return Empty(f"No group matches {listing.words(query)}.", "?", "Clear filter")
    return Empty(
        "No groups in ZooKeeper yet. Consumers of 0.7 to 1.1 that use ZooKeeper appear under /consumers;"
        " groups that keep themselves in Kafka stand here too, as far as brokers tell."
    )


def _known(snapshot: Snapshot) -> Known:
    return Known(snapshot.state, snapshot.kafka_groups, snapshot.lags, snapshot.restless, snapshot.orders)


def _why(row: GroupRow) -> str:
    """Why nothing is known of what brokers did not tell."""
    return row.kafka.reason if row.kafka is not None else ""


def _owned(row: GroupRow) -> Cell:
    if row.summary is not None:
        return group_cells.Owned(row.summary.owned, row.summary.known_expected, _PATTERN)
    return cells.known(row.owned, cells.Number, _why(row) or "what its members were assigned is not told")


def _expected(row: GroupRow) -> Cell:
    if row.summary is None:
        return cells.unknown(_BY_BROKERS)
    return _open(row.summary.known_expected)


def _unowned(row: GroupRow) -> Cell:
    if row.summary is None:
        return cells.unknown(_BY_BROKERS)
    return _open(row.summary.known_unowned, Severity.CRITICAL)


def _open(number: int | None, alert: Severity | None = None) -> Cell:
    """A number that a pattern may leave open."""
    return cells.unknown(_PATTERN) if number is None else cells.Number(number, alert=alert)


def _is_stored(row: GroupRow) -> bool:
    return row.summary is not None and row.summary.stored


def _stored(row: GroupRow) -> Cell:
    if _is_stored(row):
        return cells.Text("ZooKeeper")
    return cells.Missing(
        shown="not in ZooKeeper",
        why="no offset of it is in ZooKeeper: kept in Kafka, not visible here, or never committed",
    )


def _rebalanced(row: GroupRow) -> Cell:
    if row.summary is None:
        return cells.unknown(_BY_BROKERS)
    return cells.known(row.summary.rebalanced or None, cells.Moment, "no partition of it is owned")


# JSON and CSV have the two numbers of "Owned / all" apart, and what the status and "Kept in" say in one.
_STORED = "in_zookeeper"
_EXPECTED = "expected"
_BY_BROKERS = "its members and owners are not in ZooKeeper"
FIELDS: tuple[ListColumn[GroupRow], ...] = (
    ListColumn(
        "status",
        "Status",
        lambda entry: cells.Status(entry[1].severity, entry[1].words),
        key=ranking.place,
    ),
    ListColumn(
        "name",
        "Group",
        lambda entry: cells.Name(entry[1].name, links.group(entry[0], entry[1].name)),
        key=lambda row: row.name,
    ),
    ListColumn(
        "state",
        "State",
        lambda entry: cells.known(entry[1].state, cells.Text, _why(entry[1])),
        key=lambda row: row.state,
    ),
    ListColumn(
        "members",
        "Members",
        lambda entry: cells.known(entry[1].members, cells.Number, _why(entry[1])),
        is_number=True,
        key=lambda row: row.members,
    ),
    ListColumn(
        "topics",
        "Topics",
        lambda entry: cells.Number(len(entry[1].topics)),
        is_number=True,
        title="that it has owners or offsets on, subscribes to by name, or was assigned",
        key=lambda row: len(row.topics),
    ),
    ListColumn(
        "owned",
        "Owned / all",
        lambda entry: _owned(entry[1]),
        is_number=True,
        title="partitions",
        key=lambda row: row.owned,
    ),
    ListColumn(_EXPECTED, "All", lambda entry: _expected(entry[1]), is_sortable=False),
    ListColumn(
        "unowned",
        "Unowned",
        lambda entry: _unowned(entry[1]),
        is_number=True,
        key=lambda row: row.summary and row.summary.known_unowned,
    ),
    ListColumn(
        "lag",
        "Lag",
        lambda entry: lag_cells.number(entry[1].lag),
        is_number=True,
        title="messages that it has left to read in all",
        key=LagKey(lambda lag: lag.lag),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "worst_lag",
        "Worst partition",
        lambda entry: lag_cells.worst(entry[1].lag),
        is_number=True,
        title="the lag of the partition that is furthest behind",
        key=LagKey(lambda lag: lag.worst and lag.worst.lag),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "lag_trend",
        "Trend",
        lambda entry: lag_cells.Trend(entry[1].lag.trend),
        title="where the lag is going, over ten minutes",
        is_sortable=False,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "lag_as_of",
        "Lag as of",
        lambda entry: lag_cells.sampled(entry[1].lag),
        title="when the oldest answer came that the lag is made of",
        key=LagKey(lambda lag: lag.as_of),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "kept_in",
        "Kept in",
        lambda entry: cells.Text(entry[1].kept_in),
        title="where the group registers its members or keeps its offsets",
        key=lambda row: row.kept_in,
    ),
    ListColumn(
        _STORED, "Offsets stored in", lambda entry: _stored(entry[1]), key=lambda row: not _is_stored(row)
    ),
    ListColumn(
        "rebalanced",
        "Rebalanced",
        lambda entry: _rebalanced(entry[1]),
        title="when its newest owner claimed a partition",
        key=lambda row: row.summary and (row.summary.rebalanced or None),
    ),
)
COLUMNS = tuple(column for column in FIELDS if column.name not in {_EXPECTED, _STORED, "state"})
SPEC = listing.Spec(sorts=tuple(tables.keys(FIELDS)))

PAGE = Page(
    name="groups",
    route="groups/",
    template="groups/groups.html",
    look=look,
    canonical=SPEC.canonical,
    shape=shapes.Shape((FIELDS,)),
    label="Groups",
    letter="g",
    badge=lambda snapshot: Badge(snapshot.state.counts.groups + len(snapshot.kafka_groups.order)),
    # Groups change with every offset, which the list does not show: lags are counted every few seconds.
    areas=frozenset({"lags"}),
    render_key=lambda snapshot, _: snapshot.state.group_summaries,
    lists_kafka_groups=True,
)
