"""Brokers: every broker that is registered, or that partitions are assigned to, with what it carries."""

from __future__ import annotations

from collections.abc import Callable

from zkdash.cluster.analysis import registrations
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.brokers import queries as broker_queries
from zkdash.cluster.tables.brokers.rows import BrokerRow
from zkdash.kafka import paths
from zkdash.kafka.values import Broker, Layout
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import broker_cells, cells, links, listing, row_selection, shapes, tables
from zkdash.web.frame import skew as skew_facts
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Empty, ListColumn


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    columns = drawn(snapshot)
    found = broker_queries.select_brokers(snapshot.state, query, tables.keys(columns))
    acts = snapshot.state.layout is not Layout.V07  # which moves no replicas
    shown = row_selection.columns(key, "broker", lambda one: str(one[1].id), columns) if acts else columns
    table = tables.part(
        "brokers-rows",
        shown,
        ((f"broker-{row.id}", row.status, (snapshot.cluster, row)) for row in found.rows),
        _empty(snapshot, query),
        problems=lambda one: links.problems(one[0], paths.broker(one[1].id)),
    )
    return View(
        title="Brokers",
        parts=(_notes(snapshot), table, *listing.blocks(SPEC, query, found, "brokers")),
        context={
            **listing.context(SPEC, query, shown, "Filter: id, host, rack:a"),
            **(
                row_selection.context(key, "brokers", ("Drain, fill or replace…", "reassign")) if acts else {}
            ),
        },
        fields=tables.fields(columns),
        records=lambda: tables.records(columns, ((snapshot.cluster, row) for row in found.rows)),
        total=found.matched,
    )


def drawn(snapshot: Snapshot) -> tuple[ListColumn[BrokerRow], ...]:
    """The columns that the cluster's layout can fill."""
    return tables.of_layout(COLUMNS, snapshot.state.layout)


def _notes(snapshot: Snapshot) -> Block:
    return Block(id="notes", template="frame/notes.html", values=registrations.notes(snapshot.state))


def _empty(snapshot: Snapshot, query: topic_queries.Query) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Brokers are not known before the first load from ZooKeeper.")
    if snapshot.state.brokers or snapshot.state.loads:
        return Empty(f"No broker matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("No brokers in ZooKeeper yet. They register under /brokers/ids.")


def _said(row: BrokerRow, cell: Callable[[Broker], Cell]) -> Cell:
    """A cell of what the registration says."""
    return cells.known(row.broker, cell, "the broker is not registered")


def _host_port(row: BrokerRow) -> Cell:
    why = "no listener without encryption: see the endpoints"
    return _said(row, lambda _: cells.known(row.host_port, broker_cells.Address, why))


def _endpoints(row: BrokerRow) -> Cell:
    why = "registrations of version 1 and of 0.7 hold none"
    return _said(row, lambda said: cells.known(said.endpoints or None, broker_cells.Endpoints, why))


def _rack(row: BrokerRow) -> Cell:
    return _said(row, lambda said: cells.known(said.rack, cells.Text, "the broker names no rack"))


def _version(row: BrokerRow) -> Cell:
    why = "registrations of 0.7 have no version"
    return _said(row, lambda said: cells.known(said.version, cells.Id, why))


def skew(row: BrokerRow) -> Cell:
    share = row.leader_skew_percent
    alert = Tone.WARNING if (share or 0) > registrations.MOST_SKEW_PERCENT else None
    return cells.known(share, lambda part: cells.Percent(part, alert), "no partition prefers it as leader")


def _registered(row: BrokerRow) -> Cell:
    return _said(row, lambda _: cells.known(row.registered, cells.Moment, "the registration has no znode"))


def _session(row: BrokerRow) -> Cell:
    why = "the registration is not ephemeral: it stays when the broker goes"
    return _said(row, lambda _: cells.known(row.session or None, broker_cells.Session, why))


def _leaders(cluster: str, row: BrokerRow) -> Cell:
    return cells.Number(row.load.leaders, href=links.broker(cluster, row.id, "q=role%3Aleader"))


def _under_replicated(cluster: str, row: BrokerRow) -> Cell:
    href = links.broker(cluster, row.id, "q=is%3Aunder-replicated")
    return cells.Number(row.load.under_replicated, alert=Tone.WARNING, href=href)


def _key(field: Callable[[Broker], object]) -> Callable[[BrokerRow], object]:
    """Sorts by what the registration says, None where it says nothing."""
    return lambda row: field(row.broker) or None if isinstance(row.broker, Broker) else None


def _over(noun: str, percent: Callable[[BrokerRow], int | None]) -> ListColumn[BrokerRow]:
    """How far a broker's count lies from the mean of the registered ones."""

    def cell(one: tuple[str, BrokerRow]) -> Cell:
        none = f"no registered broker has {noun}" if one[1].broker else "the broker is not registered"
        return cells.known(percent(one[1]), skew_facts.OverMean, none)

    return ListColumn(
        f"{noun}_over_mean_percent",
        f"{noun.capitalize()} ± mean %",
        cell,
        is_number=True,
        title=f"its {noun} against the mean of the registered brokers",
        key=percent,
        layouts=tables.FROM_08,
    )


_DEFAULT = "id"
COLUMNS: tuple[ListColumn[BrokerRow], ...] = (
    ListColumn(
        "status",
        "Status",
        lambda one: cells.Status(one[1].status, one[1].words),
        key=lambda row: row.status.rank,
    ),
    ListColumn(
        _DEFAULT,
        "Id",
        lambda one: broker_cells.Broker(one[1].id, links.broker(one[0], one[1].id)),
        is_number=True,
        key=lambda row: row.id,
    ),
    ListColumn("host_port", "Host:port", lambda one: _host_port(one[1]), key=lambda row: row.host_port),
    ListColumn(
        "endpoints",
        "Endpoints",
        lambda one: _endpoints(one[1]),
        key=_key(lambda broker: broker.endpoints),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "rack",
        "Rack",
        lambda one: _rack(one[1]),
        key=_key(lambda broker: broker.rack),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "controller",
        "Controller",
        lambda one: broker_cells.Answer(one[1].is_controller, "controller"),
        key=lambda row: not row.is_controller,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "partitions",
        "Partitions",
        lambda one: cells.Number(one[1].load.partitions_07),
        is_number=True,
        title="that it says it holds (layout 0.7)",
        key=lambda row: row.load.partitions_07,
        layouts=tables.ONLY_07,
    ),
    ListColumn(
        "leaders",
        "Leaders",
        lambda one: _leaders(*one),
        is_number=True,
        key=lambda row: row.load.leaders,
        layouts=tables.FROM_08,
    ),
    _over("leaders", lambda row: row.leaders_over_mean_percent),
    ListColumn(
        "replicas",
        "Replicas",
        lambda one: cells.Number(one[1].load.replicas),
        is_number=True,
        key=lambda row: row.load.replicas,
        layouts=tables.FROM_08,
    ),
    _over("replicas", lambda row: row.replicas_over_mean_percent),
    ListColumn(
        "preferred_led",
        "Preferred led",
        lambda one: cells.Number(one[1].preferred_led),
        is_number=True,
        title="partitions that it leads and whose first replica it is",
        key=lambda row: row.preferred_led,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "leader_skew_percent",
        "Leader skew %",
        lambda one: skew(one[1]),
        is_number=True,
        title="of the partitions that prefer it as leader, how many it does not lead",
        key=lambda row: row.leader_skew_percent,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "under_replicated",
        "Under-replicated",
        lambda one: _under_replicated(*one),
        is_number=True,
        title="partitions in whose ISR it is missing",
        key=lambda row: row.load.under_replicated,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "version",
        "Version",
        lambda one: _version(one[1]),
        is_number=True,
        title="of the registration",
        key=_key(lambda broker: broker.version),
        layouts=tables.FROM_08,
    ),
    ListColumn("registered", "Registered", lambda one: _registered(one[1]), key=lambda row: row.registered),
    ListColumn("session", "Session", lambda one: _session(one[1]), key=lambda row: row.session or None),
)
SPEC = listing.Spec(sorts=tuple(dict.fromkeys((_DEFAULT, *tables.keys(COLUMNS)))))

PAGE = Page(
    name="brokers",
    route="brokers/",
    template="brokers/brokers.html",
    look=look,
    areas=frozenset({"brokers", "controller"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS,)),
    label="Brokers",
    letter="b",
    count=lambda snapshot: len(snapshot.state.brokers),
    render_key=lambda snapshot, _: snapshot.state.loads,  # topics change more often than what brokers carry
)
