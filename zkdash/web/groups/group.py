"""Group: the members of one consumer group, and what each of its partitions has and should have."""

from __future__ import annotations

import msgspec

from zkdash.cluster.analysis.position import Unknown
from zkdash.cluster.checks import About
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.known import Known
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.rebalance.values import Expectation, Verdict
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.groups import partitions as group_partitions
from zkdash.cluster.tables.groups.partitions import GroupPartitionRow
from zkdash.cluster.tables.query import SIZES, Query, Selection
from zkdash.kafka.values import Layout
from zkdash.live.parts import PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.live.watching import positions
from zkdash.web.checks import entity_findings
from zkdash.web.frame import cells, links, listing, row_selection, shapes, subjects, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import BrokerDemand, Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.groups import cells as group_cells
from zkdash.web.groups import expectations, kafka_members, members, offset_range, ownership, topic_lags
from zkdash.web.groups import facts as group_facts
from zkdash.web.history import timeline


class Entry(msgspec.Struct, frozen=True):
    """A row with what its cells need beside it."""

    cluster: str
    group: str
    row: GroupPartitionRow


def look(snapshot: Snapshot, key: PageKey) -> View:
    (name,) = key.args
    group = snapshot.state.groups.get(name)
    query, _ = SPEC.read(key.query)
    shown_group = group or Group(name)
    is_old = snapshot.state.layout is Layout.V07
    catalogue = expectations.of(snapshot, shown_group)
    expected = catalogue.expected
    read = positions.kept(snapshot.samples, name)

    def select(query: Query) -> Selection[GroupPartitionRow]:
        return group_partitions.select(
            shown_group,
            catalogue,
            query,
            settled=name not in snapshot.restless,
            positions=None if is_old else positions.of_group(snapshot.samples, name),
            kept=read,
        )

    selection = select(query)
    # The picture shows all partitions, whatever the table is asked for.
    drawn = select(Query(size=max(SIZES))).rows if ownership.is_drawn_in_lines(shown_group, catalogue) else ()
    columns = _columns(snapshot)
    entries = tuple(Entry(snapshot.cluster, name, row) for row in selection.rows)
    facts = group_facts.block(snapshot, name, group, expected)
    return View(
        title=name,
        parts=(
            facts,
            entity_findings.block(snapshot, About.GROUP, key.args[0]),
            *(() if is_old else (offset_range.block(snapshot, name),)),
            ownership.block(shown_group, catalogue, drawn),
            members.table(snapshot.cluster, shown_group, catalogue),
            kafka_members.block(snapshot, name),
            *(() if is_old else (topic_lags.table(snapshot, name),)),
            _table(columns, entries, _empty(snapshot, query, expected)),
            *listing.blocks(SPEC, query, selection, "partitions"),
        ),
        context={
            **listing.context(SPEC, query, columns, "Filter: topic or consumer"),
            "in_zookeeper": group is not None,
            "how_it_works": links.how_it_works(snapshot.cluster, name),
            "action_links": _action_links(key) if group is not None else (),
            "timeline": timeline.about(snapshot, "group", name),
            "member_headings": tables.headings(members.COLUMNS, ""),
            "topic_headings": () if is_old else tables.headings(topic_lags.COLUMNS, ""),
        },
        fields=tables.fields(FIELDS),
        records=lambda: tables.records(FIELDS, entries),
        total=selection.matched,
        extra=lambda: {
            "group": group_facts.record(snapshot, name, group, expected),
            "members": members.records(shown_group, catalogue),
            "in_kafka": kafka_members.record(snapshot, name),
            "topics": topic_lags.records(snapshot, name),
            "out_of_range": offset_range.record(snapshot, name),
        },
        gone=facts.values.gone if snapshot.state.loaded else "",
    )


def _action_links(key: PageKey) -> tuple[row_selection.ActionLink, ...]:
    """What can be asked of a group that ZooKeeper holds."""
    chosen = (("group", key.args[0]),)
    return row_selection.action_links(
        key, ("Reset offsets…", "reset-offsets", chosen), ("Delete the group…", "delete-group", chosen)
    )


def _table(columns: tuple[Column[Entry], ...], entries: tuple[Entry, ...], empty: Empty) -> Table:
    return tables.part(
        "partitions-rows",
        columns,
        (
            (links.element_id("part", f"{entry.row.topic}/{entry.row.partition}"), entry.row.status, entry)
            for entry in entries
        ),
        empty,
        problems=lambda entry: links.problems(entry.cluster, entry.row.path),
    )


def _empty(snapshot: Snapshot, query: topic_queries.Query, expected: Expectation) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Partitions are not known before the first load from ZooKeeper.")
    if query.q or query.status:
        return Empty(f"No partition matches {listing.words(query)}.", "?", "Clear filter")
    if not expected.inputs.is_clear:
        return Empty("What the group asks for cannot be told. It owns nothing, nor has it an offset here.")
    return Empty("The group neither asks for nor owns a partition, and no offset of it is in ZooKeeper.")


def broker_demand(snapshot: Snapshot, key: PageKey) -> BrokerDemand:
    """The logs of the group's topics, and its commits; nothing of 0.7, whose offsets are bytes."""
    (name,) = key.args
    numbers = snapshot.state.group_summaries.get(name)
    # Brokers are asked about groups that somebody holds, not about every name that a visitor makes up.
    is_known = numbers is not None or positions.is_kept_in_kafka(snapshot.samples, name)
    if not is_known or snapshot.state.layout is Layout.V07:
        return (), {}
    used = numbers.topics if numbers else ()
    return {*used, *(topic for topic, _ in positions.kept(snapshot.samples, name))}, {name: used}


def _columns(snapshot: Snapshot) -> tuple[Column[Entry], ...]:
    """All columns but those that the layout cannot fill."""
    if snapshot.state.layout is Layout.V07:
        return tuple(column for column in COLUMNS if column.name not in _BY_BROKERS)
    return COLUMNS


def _owner(entry: Entry) -> Cell:
    return cells.known(
        entry.row.owner,
        lambda thread: group_cells.Thread(
            thread,
            group_cells.short(thread, entry.group),
            gone=entry.row.verdict is Verdict.NOT_REGISTERED,
        ),
        "no owner znode",
    )


def _expected(entry: Entry) -> Cell:
    row = entry.row
    if row.expected is None:
        return cells.unknown(row.reason or "no member subscribes to it")
    if row.expected == row.owner:
        return group_cells.Same(row.expected)
    return group_cells.Thread(row.expected, group_cells.short(row.expected, entry.group))


def _number(value: Known[int], why: str) -> Cell:
    return cells.known(value, cells.Number, why)


def _told(value: int | Unknown | None, why: str) -> Cell:
    if isinstance(value, Unknown):
        return cells.unknown(value.reason)
    return _number(value, why)


def _lag(entry: Entry) -> Cell:
    lag = entry.row.lag
    if isinstance(lag, int) and lag < 0:
        return cells.Number(lag, alert=Severity.WARNING)
    return _told(lag, "no offset was committed")


_NO_OFFSET = "no offset znode: none was committed to ZooKeeper"
COLUMNS: tuple[Column[Entry], ...] = (
    Column(
        "topic",
        "Topic",
        lambda entry: cells.Name(entry.row.topic, links.topic(entry.cluster, entry.row.topic)),
    ),
    Column("partition", "Partition", lambda entry: group_cells.Key(entry.row.partition), is_number=True),
    Column("status", "Verdict", lambda entry: cells.Status(entry.row.status, entry.row.words)),
    Column("owner", "Owner", _owner, title="the thread that claims it"),
    Column("expected", "Expected owner", _expected, title="by the rule above"),
    Column(
        "offset", "Offset", lambda entry: _number(entry.row.offset, _NO_OFFSET), is_number=True, is_quiet=True
    ),
    Column(
        "in_kafka",
        "In Kafka",
        lambda entry: _told(entry.row.in_kafka, "no offset was committed to Kafka"),
        is_number=True,
        title="the offset that the group committed to Kafka",
        is_quiet=True,
    ),
    Column(
        "log_end",
        "Log end",
        lambda entry: _told(entry.row.log_end, "no broker is asked"),
        is_number=True,
        is_quiet=True,
    ),
    Column(
        "lag", "Lag", _lag, is_number=True, title="from the furthest offset to the log's end", is_quiet=True
    ),
    Column(
        "committed",
        "Committed",
        lambda entry: cells.known(entry.row.committed, cells.Moment, _NO_OFFSET),
        title="when the offset in ZooKeeper was written",
        is_quiet=True,
    ),
)
_BY_BROKERS = frozenset({"in_kafka", "log_end", "lag"})
FIELDS: tuple[Column[Entry], ...] = (
    *COLUMNS,
    Column("path", "Path", lambda entry: cells.Path(entry.row.path)),
)
SPEC = listing.Spec(sorts=tuple(column.name for column in COLUMNS))

PAGE = Page(
    name="group",
    route="groups/<name:name>/",
    subject_of=lambda key: subjects.of_group(key.args[0]),
    template="groups/group.html",
    look=look,
    areas=frozenset({"topics", "brokers", "samples", "findings"}),
    render_key=lambda snapshot, key: snapshot.lags.groups.get(key.args[0]),
    entities="groups",
    canonical=SPEC.canonical,
    shape=shapes.Shape(
        (FIELDS,),
        {
            "group": group_facts.RECORD,
            "members": members.RECORDS,
            "in_kafka": kafka_members.RECORD,
            "topics": topic_lags.RECORDS,
            "out_of_range": offset_range.RECORD,
        },
        frozenset({"group", "members"}),
    ),
    broker_demand=broker_demand,
    lists_kafka_groups=True,
)
