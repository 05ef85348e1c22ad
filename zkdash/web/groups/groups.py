"""Groups: every consumer group that ZooKeeper holds, with what is wrong with it, worst first."""

from __future__ import annotations

from zkdash.cluster.model.groups import GroupSummary
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.groups import queries as group_queries
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, row_selection, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Empty, ListColumn
from zkdash.web.groups import cells as group_cells

_MOST_ELSEWHERE = 200
_PATTERN = "members subscribe by a pattern; the group's page resolves it"


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    found = group_queries.select_groups(snapshot.state, query, tables.keys(COLUMNS))
    shown = row_selection.columns(key, "group", lambda one: one[1].name, COLUMNS)
    table = tables.part(
        "groups-rows",
        shown,
        ((links.element_id("group", row.name), row.tone, (snapshot.cluster, row)) for row in found.rows),
        _empty(snapshot, query),
    )
    return View(
        title="Groups",
        parts=(table, *listing.blocks(SPEC, query, found, "groups"), _elsewhere(snapshot)),
        context={
            **listing.context(SPEC, query, shown, "Filter: text, topic:a, is:unowned"),
            **row_selection.context(
                key, "groups", ("Reset offsets…", "reset-offsets"), ("Delete…", "delete-group")
            ),
        },
        fields=tables.fields(FIELDS),
        records=lambda: tables.records(FIELDS, ((snapshot.cluster, row) for row in found.rows)),
        total=found.matched,
    )


def _empty(snapshot: Snapshot, query: topic_queries.Query) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Groups are not known before the first load from ZooKeeper.")
    if snapshot.state.groups:
        return Empty(f"No group matches {listing.words(query)}.", "?", "Clear filter")
    return Empty(
        "No groups in ZooKeeper yet. Consumers of 0.7 to 1.1 that use ZooKeeper appear under /consumers;"
        " groups that keep themselves in Kafka are named below, as far as brokers tell."
    )


def _elsewhere(snapshot: Snapshot) -> Block:
    """The groups that only brokers know, each with its page."""
    names = sorted(name for name in snapshot.samples.groups() if name not in snapshot.state.groups)
    shown = tuple((name, links.group(snapshot.cluster, name)) for name in names[:_MOST_ELSEWHERE])
    return Block(id="elsewhere", template="groups/elsewhere.html", values=(shown, len(names) - len(shown)))


def _open(number: int | None, alert: Tone | None = None) -> Cell:
    """A number that a pattern may leave open."""
    return cells.unknown(_PATTERN) if number is None else cells.Number(number, alert=alert)


def _stored(group: GroupSummary) -> Cell:
    if group.stored:
        return cells.Text("ZooKeeper")
    return cells.Missing(
        shown="not in ZooKeeper",
        why="no offset of it is in ZooKeeper: kept in Kafka, not visible here, or never committed",
    )


# JSON and CSV have the two numbers of "Owned / all" apart.
_EXPECTED = "expected"
FIELDS: tuple[ListColumn[GroupSummary], ...] = (
    ListColumn(
        "status",
        "Status",
        lambda one: cells.Status(one[1].tone, one[1].words),
        key=lambda group: group.tone.rank,
    ),
    ListColumn(
        "name",
        "Group",
        lambda one: cells.Name(one[1].name, links.group(one[0], one[1].name)),
        key=lambda group: group.name,
    ),
    ListColumn(
        "members",
        "Members",
        lambda one: cells.Number(one[1].members),
        is_number=True,
        key=lambda group: group.members,
    ),
    ListColumn(
        "topics",
        "Topics",
        lambda one: cells.Number(len(one[1].topics)),
        is_number=True,
        title="that it has owners or offsets on, or subscribes to by name",
        key=lambda group: len(group.topics),
    ),
    ListColumn(
        "owned",
        "Owned / all",
        lambda one: group_cells.Owned(one[1].owned, one[1].known_expected, _PATTERN),
        is_number=True,
        title="partitions",
        key=lambda group: group.owned,
    ),
    ListColumn(_EXPECTED, "All", lambda one: _open(one[1].known_expected), is_sortable=False),
    ListColumn(
        "unowned",
        "Unowned",
        lambda one: _open(one[1].known_unowned, Tone.CRITICAL),
        is_number=True,
        key=lambda group: group.known_unowned,
    ),
    ListColumn(
        "in_zookeeper", "Offsets stored in", lambda one: _stored(one[1]), key=lambda group: not group.stored
    ),
    ListColumn(
        "rebalanced",
        "Rebalanced",
        lambda one: cells.known(one[1].rebalanced or None, cells.Moment, "no partition of it is owned"),
        title="when its newest owner claimed a partition",
        key=lambda group: group.rebalanced or None,
    ),
)
COLUMNS = tuple(column for column in FIELDS if column.name != _EXPECTED)
SPEC = listing.Spec(sorts=tuple(tables.keys(COLUMNS)))

PAGE = Page(
    name="groups",
    route="groups/",
    template="groups/groups.html",
    look=look,
    canonical=SPEC.canonical,
    shape=shapes.Shape((FIELDS,)),
    label="Groups",
    letter="g",
    count=lambda snapshot: snapshot.state.counts.groups,
    # Groups change with every offset, which the list does not show.
    render_key=lambda snapshot, _: (snapshot.state.group_summaries, snapshot.samples.listings),
    lists_kafka_groups=True,
)
