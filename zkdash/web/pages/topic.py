"""Topic: the partitions of one topic (0.8+), or what each broker holds of it (0.7)."""

from __future__ import annotations

import msgspec

from zkdash.cluster import queries
from zkdash.cluster.position import Unknown
from zkdash.cluster.rows import CountRow, Known, PartitionRow
from zkdash.cluster.tone import Tone
from zkdash.cluster.topics import Topic, TopicSummary
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment, Layout, TopicConfig
from zkdash.live import positions
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot, Touched
from zkdash.web import broker_cells, cells, links, listing, picks, skew_facts, tables
from zkdash.web.cells import Cell
from zkdash.web.page import Page, View, Wants
from zkdash.web.pages import timeline
from zkdash.web.tables import Column, Empty

Entry = tuple[str, PartitionRow]  # the cluster's name, and the partition
Entry07 = tuple[str, CountRow]

_AREAS = frozenset({"brokers", "admin"})
_MOST_GROUPS = 20


class Consumer(msgspec.Struct, frozen=True):
    """A group that consumes the topic; `lag` is "" where nothing was committed, `why` says why unknown."""

    name: str
    href: str
    lag: str = ""
    why: str = ""


class Facts(msgspec.Struct, frozen=True):
    """What stands above the table. `gone` is the sentence where there is no such topic."""

    name: str
    gone: str
    path: str
    tone: Tone = Tone.UNKNOWN
    words: str = ""
    layout: str = ""
    topic_id: str = ""
    marks: tuple[str, ...] = ()
    groups: tuple[Consumer, ...] = ()
    more_groups: int = 0
    config: tuple[tuple[str, str], ...] = ()
    config_doubt: str = ""
    doubt: str = ""


def look(snapshot: Snapshot, key: PageKey) -> View:
    (name,) = key.args
    topic = snapshot.state.topics.get(name)
    query, _ = EITHER.read(key.query)
    facts = _facts(snapshot, name, topic)
    asked = topic or Topic(name=name, layout=Layout.NONE, znode=None, assignment=None)
    if asked.counts and not asked.partitions:
        return _held(snapshot, asked, query, facts)
    found = queries.select_partitions(snapshot.state, asked, query)
    table = tables.part(
        "partitions-rows",
        COLUMNS,
        ((f"partition-{row.partition}", row.status, (snapshot.cluster, row)) for row in found.rows),
        _empty(snapshot, query, topic),
        problems=lambda _: links.problems(snapshot.cluster, facts.values.path),
    )
    return View(
        title=name,
        parts=(
            facts,
            skew_facts.block(topic, snapshot.state),
            table,
            *listing.blocks(SPEC, query, found, "partitions"),
        ),
        context={
            **listing.context(SPEC, query, COLUMNS, "Filter: number, broker:3, rack:a"),
            "rows": "partitions-rows",
            "noun": "Partitions",
            "deeds": () if topic is None else _deeds(key),
            "timeline": timeline.about(snapshot.cluster, "topic", name),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot.cluster, row) for row in found.rows)),
        total=found.matched,
        extra={"skew": skew_facts.record(topic, snapshot.state)},
        gone=facts.values.gone if snapshot.state.loaded else "",
    )


def _deeds(key: PageKey) -> tuple[picks.Deed, ...]:
    """What can be asked of a topic of 0.8+."""
    chosen = (("topic", key.args[0]),)
    return picks.deeds(
        key,
        ("Reassign…", "reassign", chosen),
        ("Elect preferred leaders…", "elect-preferred", chosen),
        ("Add partitions…", "add-partitions", chosen),
        ("Change the config…", "change-config", chosen),
        ("Delete the topic…", "delete-topic", chosen),
    )


def touches(key: PageKey, touched: Touched) -> bool:
    return key.args[0] in touched.topics or not _AREAS.isdisjoint(touched.areas)


def _glance(snapshot: Snapshot, key: PageKey) -> object:
    """The groups that consume the topic: groups change with every offset, these and their lags seldom."""
    groups = snapshot.state.consumers.get(key.args[0])
    if not groups or key.args[0] not in snapshot.samples.ends:
        return groups
    return groups, _consumers(snapshot, key.args[0], sorted(groups)[:_MOST_GROUPS])


def wants(snapshot: Snapshot, key: PageKey) -> Wants:
    """The topic's logs, and what the groups that are shown committed of it."""
    topic = snapshot.state.topics.get(key.args[0])
    if topic is None or topic.layout is Layout.V07:
        return (), {}
    groups = sorted(snapshot.state.consumers.get(topic.name, ()))[:_MOST_GROUPS]
    return (topic.name,), dict.fromkeys(groups, (topic.name,))


def _consumers(snapshot: Snapshot, topic: str, names: list[str]) -> tuple[Consumer, ...]:
    """The groups of these names, with what each has left to read of a topic; nothing of that in 0.7."""
    is_old = snapshot.state.layout is Layout.V07
    found = []
    for name in names:
        group = snapshot.state.groups[name]
        left = None if is_old else positions.lag(snapshot.samples, group, (topic,))
        href = links.group(snapshot.cluster, name)
        if isinstance(left, Unknown):
            found.append(Consumer(name, href, "unknown", left.reason))
        else:
            found.append(Consumer(name, href, "" if left is None else cells.grouped(left)))
    return tuple(found)


def _held(snapshot: Snapshot, topic: Topic, query: queries.Query, facts: Block) -> View:
    """A topic of 0.7, broker by broker."""
    found = queries.select_counts(snapshot.state, topic, query)
    table = tables.part(
        "brokers-rows",
        COLUMNS_07,
        ((f"broker-{row.broker}", row.status, (snapshot.cluster, row)) for row in found.rows),
        Empty(f"No broker matches {listing.words(query)}.", "?", "Clear filter"),
        problems=lambda one: links.problems(one[0], one[1].path),
    )
    return View(
        title=topic.name,
        parts=(facts, table, *listing.blocks(SPEC_07, query, found, "brokers")),
        context={
            **listing.context(SPEC_07, query, COLUMNS_07, "Filter: number, rack:a"),
            "rows": "brokers-rows",
            "noun": "Brokers",
            "timeline": timeline.about(snapshot.cluster, "topic", topic.name),
        },
        fields=tables.fields(COLUMNS_07),
        records=lambda: tables.records(COLUMNS_07, ((snapshot.cluster, row) for row in found.rows)),
        total=found.matched,
        extra={"skew": {}},
    )


def _facts(snapshot: Snapshot, name: str, topic: Topic | None) -> Block:
    summary = snapshot.state.summaries.get(name)
    if topic is None or summary is None:
        gone = f"No topic named “{name}” is in ZooKeeper."
        if not snapshot.state.loaded:
            gone = "Topics are not known before the first load from ZooKeeper."
        values = Facts(name=name, gone=gone, path=paths.topic(name))
    else:
        values = _known_facts(snapshot, topic, summary)
    return Block(id="facts", template="parts/facts.html", values=values)


def _known_facts(snapshot: Snapshot, topic: Topic, summary: TopicSummary) -> Facts:
    groups = sorted(snapshot.state.consumers.get(topic.name, ()))
    assignment, config = topic.assignment, topic.config
    return Facts(
        name=topic.name,
        gone="",
        path=paths.topic(topic.name),
        tone=summary.tone,
        words=summary.words,
        layout=topic.layout.value,
        topic_id=(assignment.topic_id or "") if isinstance(assignment, Assignment) else "",
        marks=tuple(
            word
            for word, holds in (("deleting", topic.deleting), ("reassigning", bool(topic.moving)))
            if holds
        ),
        groups=_consumers(snapshot, topic.name, groups[:_MOST_GROUPS]),
        more_groups=max(0, len(groups) - _MOST_GROUPS),
        config=tuple(sorted(config.config.items())) if isinstance(config, TopicConfig) else (),
        config_doubt="" if config is None or isinstance(config, TopicConfig) else config.reason,
        doubt="" if assignment is None or isinstance(assignment, Assignment) else assignment.reason,
    )


def _empty(snapshot: Snapshot, query: queries.Query, topic: Topic | None) -> Empty:
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
    Column("path", "Path", lambda one: cells.Path(one[1].path), is_sortable=False),
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
    Column("path", "Path", lambda one: cells.Path(one[1].path), is_sortable=False),
)
SPEC_07 = listing.Spec(sorts=tuple(column.name for column in COLUMNS_07 if column.is_sortable))
# An address is read before anybody knows of which layout its topic is.
EITHER = listing.Spec(sorts=tuple(dict.fromkeys((*SPEC.sorts, *SPEC_07.sorts))))

PAGE = Page(
    name="topic",
    route="topics/<name:name>/",
    template="pages/topic.html",
    look=look,
    touches=touches,
    canonical=EITHER.canonical,
    glance=_glance,
    wants=wants,
)
