"""Topic: the partitions of one topic (0.8+), or what each broker holds of it (0.7)."""

from __future__ import annotations

from zkdash.cluster.checks import About
from zkdash.cluster.model.known import Known
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.topic_rows import CountRow, PartitionRow
from zkdash.kafka import paths
from zkdash.kafka.values import Layout
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.checks import entity_findings
from zkdash.web.frame import broker_cells, cells, links, listing, row_selection, shapes, skew, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import BrokerDemand, Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.history import timeline
from zkdash.web.topics import beside
from zkdash.web.topics import facts as topic_facts

Entry = tuple[str, PartitionRow]  # the cluster's name, and the partition
Entry07 = tuple[str, CountRow]


def look(snapshot: Snapshot, key: PageKey) -> View:
    (name,) = key.args
    topic = snapshot.state.topics.get(name)
    query, _ = EITHER.read(key.query)
    facts = topic_facts.block(snapshot, name, topic)
    asked = topic or Topic(name=name, layout=Layout.NONE, znode=None, assignment=None)
    if asked.counts and not asked.partitions:
        return _held(snapshot, asked, query, facts)
    found = topic_queries.select_partitions(snapshot.state, asked, query)
    table = tables.part(
        "partitions-rows",
        COLUMNS,
        ((f"partition-{row.partition}", row.status, (snapshot.cluster, row)) for row in found.rows),
        _empty(snapshot, query, topic),
        problems=lambda _: links.problems(snapshot.cluster, paths.topic(name)),
    )
    return View(
        title=name,
        parts=(
            facts,
            entity_findings.block(snapshot, About.TOPIC, name),
            *beside.blocks(snapshot.cluster, topic, snapshot.state),
            skew.block(topic, snapshot.state),
            table,
            *listing.blocks(SPEC, query, found, "partitions"),
        ),
        context={
            **listing.context(SPEC, query, COLUMNS, "Filter: number, broker:3, rack:a"),
            "rows": "partitions-rows",
            "noun": "Partitions",
            "action_links": () if topic is None else _action_links(key),
            "timeline": timeline.about(snapshot.cluster, "topic", name),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot.cluster, row) for row in found.rows)),
        total=found.matched,
        extra={
            "skew": skew.record(topic, snapshot.state),
            **beside.record(snapshot.cluster, topic, snapshot.state),
        },
        gone=facts.values.gone if snapshot.state.loaded else "",
    )


def _action_links(key: PageKey) -> tuple[row_selection.ActionLink, ...]:
    """What can be asked of a topic of 0.8+."""
    chosen = (("topic", key.args[0]),)
    return row_selection.action_links(
        key,
        ("Reassign…", "reassign", chosen),
        ("Elect preferred leaders…", "elect-preferred", chosen),
        ("Add partitions…", "add-partitions", chosen),
        ("Change the config…", "change-config", chosen),
        ("Delete the topic…", "delete-topic", chosen),
    )


def _render_key(snapshot: Snapshot, key: PageKey) -> object:
    """The groups that consume the topic: groups change with every offset, these and their lags seldom."""
    groups = snapshot.state.consumers.get(key.args[0])
    if not groups or key.args[0] not in snapshot.samples.ends:
        return groups
    return groups, topic_facts.consumers(snapshot, key.args[0], sorted(groups)[: topic_facts.MOST_GROUPS])


def broker_demand(snapshot: Snapshot, key: PageKey) -> BrokerDemand:
    """The topic's logs, and what the groups that are shown committed of it."""
    topic = snapshot.state.topics.get(key.args[0])
    if topic is None or topic.layout is Layout.V07:
        return (), {}
    groups = sorted(snapshot.state.consumers.get(topic.name, ()))[: topic_facts.MOST_GROUPS]
    return (topic.name,), dict.fromkeys(groups, (topic.name,))


def _held(snapshot: Snapshot, topic: Topic, query: topic_queries.Query, facts: Block) -> View:
    """A topic of 0.7, broker by broker."""
    found = topic_queries.select_counts(snapshot.state, topic, query)
    table = tables.part(
        "brokers-rows",
        COLUMNS_07,
        ((f"broker-{row.broker}", row.status, (snapshot.cluster, row)) for row in found.rows),
        Empty(f"No broker matches {listing.words(query)}.", "?", "Clear filter"),
        problems=lambda one: links.problems(one[0], one[1].path),
    )
    return View(
        title=topic.name,
        parts=(
            facts,
            entity_findings.block(snapshot, About.TOPIC, topic.name),
            *beside.blocks(snapshot.cluster, None, snapshot.state),
            table,
            *listing.blocks(SPEC_07, query, found, "brokers"),
        ),
        context={
            **listing.context(SPEC_07, query, COLUMNS_07, "Filter: number, rack:a"),
            "rows": "brokers-rows",
            "noun": "Brokers",
            "timeline": timeline.about(snapshot.cluster, "topic", topic.name),
        },
        fields=tables.fields(COLUMNS_07),
        records=lambda: tables.records(COLUMNS_07, ((snapshot.cluster, row) for row in found.rows)),
        total=found.matched,
        extra={"skew": {}, **beside.record(snapshot.cluster, None, snapshot.state)},
    )


def _empty(snapshot: Snapshot, query: topic_queries.Query, topic: Topic | None) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Partitions are not known before the first load from ZooKeeper.")
    if topic is None:
        return Empty("There is nothing to show of a topic that is not there.")
    if topic.partitions:
        return Empty(f"No partition matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("No partitions in ZooKeeper yet. Kafka’s controller writes them under the topic’s znode.")


_NO_STATE = "no state znode: the controller has not elected a leader yet"


def _leader(cluster: str, row: PartitionRow) -> Cell:
    if row.leader == -1:
        return broker_cells.NoLeader()
    return cells.known(
        row.leader,
        lambda leader: cells.Id(leader, gone=not row.leader_live, href=links.broker(cluster, leader)),
        _NO_STATE,
    )


def _replicas(row: PartitionRow) -> Cell:
    return cells.known(
        row.replicas,
        lambda brokers: broker_cells.Replicas(brokers, row.dead),
        "the assignment does not list it",
    )


def _isr(row: PartitionRow) -> Cell:
    return cells.known(row.isr, lambda brokers: broker_cells.InSync(brokers, row.out_of_sync), _NO_STATE)


def _epoch(value: Known[int]) -> Cell:
    return cells.known(value, cells.Id, _NO_STATE)


COLUMNS: tuple[Column[Entry], ...] = (
    Column("partition", "Partition", lambda one: cells.Head(one[1].partition), is_number=True),
    Column("leader", "Leader", lambda one: _leader(*one), is_number=True),
    Column("replicas", "Replicas", lambda one: _replicas(one[1]), title="the preferred leader first"),
    Column("isr", "ISR", lambda one: _isr(one[1]), title="replicas in sync, then those that are out"),
    Column("leader_epoch", "Leader epoch", lambda one: _epoch(one[1].leader_epoch), is_number=True),
    Column(
        "controller_epoch", "Controller epoch", lambda one: _epoch(one[1].controller_epoch), is_number=True
    ),
    Column("status", "Status", lambda one: cells.Status(one[1].status, one[1].words)),
    Column("changed", "Changed", lambda one: cells.known(one[1].changed, cells.Moment, _NO_STATE)),
    Column("path", "Path", lambda one: cells.Path(one[1].path, cluster=one[0]), is_sortable=False),
)
SPEC = listing.Spec(sorts=tuple(column.name for column in COLUMNS if column.is_sortable))

_NO_COUNT = "no data in the znode"
COLUMNS_07: tuple[Column[Entry07], ...] = (
    Column(
        "broker",
        "Broker",
        lambda one: broker_cells.Broker(one[1].broker, links.broker(one[0], one[1].broker)),
        is_number=True,
    ),
    Column(
        "partitions",
        "Partitions",
        lambda one: cells.known(one[1].partitions, cells.Number, _NO_COUNT),
        is_number=True,
    ),
    Column("status", "Status", lambda one: cells.Status(one[1].status, one[1].words)),
    Column("changed", "Changed", lambda one: cells.known(one[1].changed, cells.Moment, _NO_COUNT)),
    Column("path", "Path", lambda one: cells.Path(one[1].path, cluster=one[0]), is_sortable=False),
)
SPEC_07 = listing.Spec(sorts=tuple(column.name for column in COLUMNS_07 if column.is_sortable))
# An address is read before anybody knows of which layout its topic is.
EITHER = listing.Spec(sorts=tuple(dict.fromkeys((*SPEC.sorts, *SPEC_07.sorts))))

PAGE = Page(
    name="topic",
    route="topics/<name:name>/",
    template="topics/topic.html",
    look=look,
    areas=frozenset({"brokers", "admin", "findings", "acls", "notifications"}),
    entities="topics",
    canonical=EITHER.canonical,
    shape=shapes.Shape((COLUMNS, COLUMNS_07), {"skew": skew.RECORD, **beside.RECORD}),
    render_key=_render_key,
    broker_demand=broker_demand,
)
