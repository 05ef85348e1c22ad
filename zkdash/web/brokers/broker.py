"""Broker: what one broker says of itself, and the partitions that it holds or leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from zkdash.cluster.checks import About
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.brokers import queries as broker_queries
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.cluster.tables.brokers.rows import BrokerRow, HeldRow, ReplicaRow
from zkdash.cluster.tables.query import Selection
from zkdash.kafka import paths
from zkdash.live.parts import Block, PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.web.brokers import brokers, departed, presence, settings
from zkdash.web.brokers import facts as broker_facts
from zkdash.web.checks import entity_findings
from zkdash.web.disks import configured
from zkdash.web.frame import cells, links, listing, row_selection, shapes, subjects, tables
from zkdash.web.frame.cells import Record, broker_cells
from zkdash.web.frame.facts import Facts
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.history import timeline

Entry = tuple[str, ReplicaRow]  # the cluster's name, and the partition
Entry07 = tuple[str, HeldRow]


def look(snapshot: Snapshot, key: PageKey) -> View:
    (name,) = key.args
    state, query = snapshot.state, SPEC.read(key.query)[0]
    number = int(name) if paths.is_id(name) else -1
    is_there = number in broker_rows.ids(state)
    row = departed.recalled(snapshot, broker_rows.broker(state, number)) if is_there else None
    facts = _facts(snapshot, name, row)
    if row is not None and row.broker is None and not query.sort:
        query = msgspec.structs.replace(query, sort="status")  # of a dead one what it left behind comes first
    columns, selection = _found(snapshot, number, row, query)
    entries = [(snapshot.cluster, row) for row in selection.rows]
    noun = "topics" if columns is COLUMNS_07 else "partitions"
    return View(
        title=facts.name,
        parts=(
            Block(id="facts", template="frame/facts.html", values=facts),
            entity_findings.block(snapshot, About.BROKER, name),
            Block(
                id="what-if",
                template="brokers/what_if_link.html",
                values=row is not None and row.broker is not None,
            ),
            presence.block(snapshot, None if row is None else row.id),
            settings.block(state, -1 if row is None else number),
            _table(snapshot, entries, columns, _empty(snapshot, query, row)),
            *listing.blocks(SPEC, query, selection, noun),
        ),
        context={
            **listing.context(SPEC, query, columns, "Filter: topic, role:leader"),
            "noun": noun.capitalize(),
            "holds": row is not None and row.load.replicas > 0,
            "action_links": _action_links(key, row),
            "has_disks": configured.has_disks(snapshot.cluster),
            "timeline": timeline.about(snapshot, "broker", name),
        },
        fields=tables.fields(columns),
        records=lambda: tables.records(columns, entries),
        total=selection.matched,
        extra=lambda: {} if row is None else {"broker": _record(snapshot, row)},
        gone=facts.gone if snapshot.state.loaded else "",
    )


def _action_links(key: PageKey, row: BrokerRow | None) -> tuple[row_selection.ActionLink, ...]:
    """What can be asked of a broker: not of one that is unknown, nor of 0.7, which moves nothing."""
    if row is None or (row.load.topics_07 and not row.load.listed):
        return ()
    return row_selection.action_links(
        key,
        ("Drain…", "reassign", (("way", "drain"), ("broker", row.id))),
        ("Replace…", "reassign", (("way", "replace"), ("broker", row.id))),
    )


def _found(
    snapshot: Snapshot, number: int, row: BrokerRow | None, query: topic_queries.Query
) -> tuple[Sequence[Column[Any]], Selection[Any]]:
    """By what the broker holds: what it says of topics (0.7), else what their assignments say of it."""
    if row is not None and row.load.topics_07 and not row.load.listed:
        return COLUMNS_07, broker_queries.select_held(snapshot.state, number, query)
    return COLUMNS, broker_queries.select_replicas(snapshot.state, number, query)


def _table(
    snapshot: Snapshot, entries: Sequence[tuple[str, Any]], columns: Sequence[Column[Any]], empty: Empty
) -> Table:
    rows = (
        (_element_id(entry_row), entry_row.status, (cluster, entry_row)) for cluster, entry_row in entries
    )
    return tables.part(
        "replicas-rows",
        columns,
        rows,
        empty,
        problems=lambda entry: links.problems(snapshot.cluster, paths.topic(entry[1].topic)),
    )


def _element_id(row: ReplicaRow | HeldRow) -> str:
    if isinstance(row, HeldRow):
        return links.element_id("topic", row.topic)
    return links.element_id("partition", f"{row.topic} {row.partition}")


def _facts(snapshot: Snapshot, name: str, row: BrokerRow | None) -> Facts:
    if row is not None:
        return broker_facts.of(row, links.why(snapshot.cluster, [("broker", name)]))
    if not snapshot.state.loaded:
        gone = "Brokers are not known before the first load from ZooKeeper."
    elif paths.is_id(name):
        gone = f"No broker {name} is registered in ZooKeeper, and no partition is assigned to it."
    else:
        gone = f"“{name}” is not a broker id: broker ids are numbers from 0 to 2147483647."
    return Facts(name=f"Broker {name}", gone=gone)


def _record(snapshot: Snapshot, row: BrokerRow) -> Record:
    (record,) = tables.records(brokers.drawn(snapshot), [(snapshot.cluster, row)])
    return record | broker_facts.record(row) | settings.record(snapshot.state, row.id)


def _empty(snapshot: Snapshot, query: topic_queries.Query, row: BrokerRow | None) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Partitions are not known before the first load from ZooKeeper.")
    if row is None:
        return Empty("There is nothing to show of a broker that is not there.")
    if row.load.topics_07 or row.load.listed:
        noun = "partition" if row.load.listed else "topic"
        return Empty(f"No {noun} matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("No partition is assigned to this broker, and it leads none.")


_NO_STATE = "no state znode: the controller has not elected a leader yet"
_NOT_LISTED = "the assignment does not list the partition"


def _topic(cluster: str, name: str) -> cells.Cell:
    return cells.Name(name, links.topic(cluster, name))


def _in_sync(row: ReplicaRow) -> cells.Cell:
    return cells.known(
        row.in_sync,
        lambda inside: broker_cells.Answer(inside, "yes", "out", None if inside else Severity.WARNING),
        _NO_STATE,
    )


def _preferred(row: ReplicaRow) -> cells.Cell:
    return cells.known(row.preferred, lambda first: broker_cells.Answer(first, "preferred"), _NOT_LISTED)


COLUMNS: tuple[Column[Entry], ...] = (
    Column("topic", "Topic", lambda entry: _topic(entry[0], entry[1].topic)),
    Column("partition", "Partition", lambda entry: cells.Id(entry[1].partition), is_number=True),
    Column("role", "Role", lambda entry: cells.known(entry[1].role, cells.Text, _NO_STATE)),
    Column("in_sync", "In sync?", lambda entry: _in_sync(entry[1]), title="whether it is in the ISR"),
    Column(
        "preferred",
        "Preferred?",
        lambda entry: _preferred(entry[1]),
        title="whether it is the preferred leader",
    ),
    Column("status", "Status", lambda entry: cells.Status(entry[1].status, entry[1].words)),
)
COLUMNS_07: tuple[Column[Entry07], ...] = (
    Column("topic", "Topic", lambda entry: _topic(entry[0], entry[1].topic)),
    Column(
        "partitions",
        "Partitions",
        lambda entry: cells.known(entry[1].partitions, cells.Number, "no data in the znode"),
        is_number=True,
    ),
    Column("status", "Status", lambda entry: cells.Status(entry[1].status, entry[1].words)),
    Column(
        "changed",
        "Changed",
        lambda entry: cells.known(entry[1].changed, cells.Moment, "the znode may not be read"),
    ),
    Column("path", "Path", lambda entry: cells.Path(entry[1].path, cluster=entry[0]), is_sortable=False),
)
# One for both layouts: which of them a broker has may change while its address stays.
SPEC = listing.Spec(sorts=tuple(dict.fromkeys((*broker_queries.REPLICA_SORTS, *broker_queries.HELD_SORTS))))

RECORD: Final = shapes.fields(
    **shapes.columns(brokers.COLUMNS),
    path=shapes.TEXT,
    words=shapes.TEXT,
    czxid=shapes.INTEGER_OR_NULL,
    jmx_port=shapes.INTEGER_OR_NULL,
    listener_security_protocol_map=shapes.named(shapes.TEXT),
    features=shapes.named(shapes.NUMBERS),
    creator=shapes.TEXT_OR_NULL,
    config=shapes.many(
        shapes.fields(name=shapes.TEXT, value=shapes.TEXT_OR_NULL, every_broker=shapes.WHETHER)
    ),
    config_doubts=shapes.TEXTS,
)


PAGE = Page(
    name="broker",
    route="brokers/<name:broker>/",
    subject_of=lambda key: subjects.of_broker(key.args[0]),
    template="brokers/broker.html",
    look=look,
    areas=frozenset({"brokers", "controller", "topics", "findings", "configs"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS, COLUMNS_07), {"broker": RECORD}, frozenset({"broker"})),
)
