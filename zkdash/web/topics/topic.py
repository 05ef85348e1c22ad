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
from zkdash.web.disks import configured
from zkdash.web.frame import cells, links, listing, row_selection, shapes, subjects, tables
from zkdash.web.frame.cells import Cell, broker_cells
from zkdash.web.frame.page import BrokerDemand, Page, View
from zkdash.web.frame.panels import placements, skew
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.history import timeline
from zkdash.web.topics import beside, consumers
from zkdash.web.topics import facts as topic_facts

Entry = tuple[str, PartitionRow]  # the cluster's name, and the partition
Entry07 = tuple[str, CountRow]


def look(snapshot: Snapshot, key: PageKey) -> View:
    (name,) = key.args
    topic = snapshot.state.topics.get(name)
    query, _ = EITHER.read(key.query)
    facts = topic_facts.block(snapshot, name, topic)
    shown_topic = topic or Topic(name=name, layout=Layout.NONE, znode=None, assignment=None)
    if shown_topic.counts and not shown_topic.partitions:
        return _held(snapshot, shown_topic, query, facts)
    selection = topic_queries.select_partitions(snapshot.state, shown_topic, query)
    table = tables.part(
        "partitions-rows",
        tables.shown(COLUMNS),
        ((f"partition-{row.partition}", row.status, (snapshot.cluster, row)) for row in selection.rows),
        _empty(snapshot, query, topic),
        problems=lambda _: links.problems(snapshot.cluster, paths.topic(name)),
    )
    return View(
        title=name,
        parts=(
            facts,
            entity_findings.block(snapshot, About.TOPIC, name),
            *beside.blocks(snapshot.cluster, topic, snapshot.state),
            consumers.table(snapshot, name),
            skew.block(topic, snapshot.state),
            placements.block(snapshot, topic),
            table,
            *listing.blocks(SPEC, query, selection, "partitions"),
        ),
        context={
            **listing.context(SPEC, query, tables.shown(COLUMNS), "Filter: number, broker:3, rack:a"),
            "rows": "partitions-rows",
            "noun": "Partitions",
            "consumer_headings": _consumer_headings(snapshot),
            "action_links": () if topic is None else _action_links(key),
            "has_disks": configured.has_disks(snapshot.cluster),
            "timeline": timeline.about(snapshot, "topic", name),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot.cluster, row) for row in selection.rows)),
        total=selection.matched,
        extra=lambda: {
            **topic_facts.record(snapshot, name),
            "skew": skew.record(topic, snapshot.state),
            "groups": consumers.records(snapshot, name),
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


def _consumer_headings(snapshot: Snapshot) -> tuple[tables.Heading, ...]:
    return tables.headings(consumers.columns(snapshot.state.layout), "")


def _render_key(snapshot: Snapshot, key: PageKey) -> object:
    """The groups that consume the topic: groups change with every offset, these and their lags seldom."""
    (name,) = key.args
    return snapshot.state.consumers.get(name), snapshot.lags.topics.get(name)


def broker_demand(snapshot: Snapshot, key: PageKey) -> BrokerDemand:
    """The topic's logs, and what the groups that are shown committed of it."""
    topic = snapshot.state.topics.get(key.args[0])
    if topic is None or topic.layout is Layout.V07:
        return (), {}
    shown = consumers.entries(snapshot, topic.name)[: consumers.MOST]
    return (topic.name,), {entry.group: (topic.name,) for entry in shown}


def _held(snapshot: Snapshot, topic: Topic, query: topic_queries.Query, facts: Block) -> View:
    """A topic of 0.7, broker by broker."""
    selection = topic_queries.select_counts(snapshot.state, topic, query)
    table = tables.part(
        "brokers-rows",
        COLUMNS_07,
        ((f"broker-{row.broker}", row.status, (snapshot.cluster, row)) for row in selection.rows),
        Empty(f"No broker matches {listing.words(query)}.", "?", "Clear filter"),
        problems=lambda entry: links.problems(entry[0], entry[1].path),
    )
    return View(
        title=topic.name,
        parts=(
            facts,
            entity_findings.block(snapshot, About.TOPIC, topic.name),
            *beside.blocks(snapshot.cluster, None, snapshot.state),
            consumers.table(snapshot, topic.name),
            table,
            *listing.blocks(SPEC_07, query, selection, "brokers"),
        ),
        context={
            **listing.context(SPEC_07, query, COLUMNS_07, "Filter: number, rack:a"),
            "rows": "brokers-rows",
            "noun": "Brokers",
            "consumer_headings": _consumer_headings(snapshot),
            "has_disks": configured.has_disks(snapshot.cluster),
            "timeline": timeline.about(snapshot, "topic", topic.name),
        },
        fields=tables.fields(COLUMNS_07),
        records=lambda: tables.records(COLUMNS_07, ((snapshot.cluster, row) for row in selection.rows)),
        total=selection.matched,
        extra=lambda: {
            **topic_facts.record(snapshot, topic.name),
            "skew": {},
            "groups": consumers.records(snapshot, topic.name),
            **beside.record(snapshot.cluster, None, snapshot.state),
        },
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


def _why(cluster: str, row: PartitionRow) -> str:
    return f"{links.why_partitions(cluster, row.path.split('/')[3])}{row.partition}"


def _epoch(value: Known[int]) -> Cell:
    return cells.known(value, cells.Id, _NO_STATE)


COLUMNS: tuple[Column[Entry], ...] = (
    Column(
        "partition",
        "Partition",
        lambda entry: broker_cells.Partition(entry[1].partition, entry[1].path, entry[0]),
        is_number=True,
    ),
    Column("leader", "Leader", lambda entry: _leader(*entry), is_number=True),
    Column("replicas", "Replicas", lambda entry: _replicas(entry[1]), title="the preferred leader first"),
    Column("isr", "ISR", lambda entry: _isr(entry[1]), title="replicas in sync, then those that are out"),
    Column("leader_epoch", "Leader epoch", lambda entry: _epoch(entry[1].leader_epoch), is_number=True),
    Column(
        "controller_epoch",
        "Controller epoch",
        lambda entry: _epoch(entry[1].controller_epoch),
        is_number=True,
    ),
    Column("status", "Status", lambda entry: cells.Status(entry[1].status, entry[1].words, _why(*entry))),
    Column("changed", "Changed", lambda entry: cells.known(entry[1].changed, cells.Moment, _NO_STATE)),
    Column(
        "path",
        "Path",
        lambda entry: cells.Path(entry[1].path, cluster=entry[0]),
        is_sortable=False,
        is_shown=False,
    ),
)
SPEC = listing.Spec(sorts=tuple(column.name for column in COLUMNS if column.is_sortable))

_NO_COUNT = "no data in the znode"
COLUMNS_07: tuple[Column[Entry07], ...] = (
    Column(
        "broker",
        "Broker",
        lambda entry: broker_cells.Broker(entry[1].broker, links.broker(entry[0], entry[1].broker)),
        is_number=True,
    ),
    Column(
        "partitions",
        "Partitions",
        lambda entry: cells.known(entry[1].partitions, cells.Number, _NO_COUNT),
        is_number=True,
    ),
    Column("status", "Status", lambda entry: cells.Status(entry[1].status, entry[1].words)),
    Column("changed", "Changed", lambda entry: cells.known(entry[1].changed, cells.Moment, _NO_COUNT)),
    Column("path", "Path", lambda entry: cells.Path(entry[1].path, cluster=entry[0]), is_sortable=False),
)
SPEC_07 = listing.Spec(sorts=tuple(column.name for column in COLUMNS_07 if column.is_sortable))
# An address is read before anybody knows of which layout its topic is.
EITHER = listing.Spec(sorts=tuple(dict.fromkeys((*SPEC.sorts, *SPEC_07.sorts))))

PAGE = Page(
    name="topic",
    route="topics/<name:name>/",
    subject_of=lambda key: subjects.of_topic(key.args[0]),
    template="topics/topic.html",
    look=look,
    areas=frozenset({"brokers", "admin", "findings", "acls", "notifications"}),
    entities="topics",
    canonical=EITHER.canonical,
    shape=shapes.Shape(
        (COLUMNS, COLUMNS_07),
        {**topic_facts.RECORD, "skew": skew.RECORD, "groups": consumers.RECORDS, **beside.RECORD},
    ),
    render_key=_render_key,
    broker_demand=broker_demand,
)
