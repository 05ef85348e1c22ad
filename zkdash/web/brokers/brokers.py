"""Brokers: every broker that is registered, or that partitions are assigned to, with what it carries."""

from __future__ import annotations

from collections.abc import Callable

from zkdash.cluster.analysis import registrations
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.brokers import queries as broker_queries
from zkdash.cluster.tables.brokers.rows import BrokerRow
from zkdash.kafka import paths
from zkdash.kafka.values import Broker, Layout
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.brokers import cluster_map, departed
from zkdash.web.frame import cells, links, listing, row_selection, shapes, tables
from zkdash.web.frame.cells import Cell, bar_cells, broker_cells
from zkdash.web.frame.page import Badge, Page, View
from zkdash.web.frame.panels import skew as skew_facts
from zkdash.web.frame.tables import Empty, ListColumn


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    columns = drawn(snapshot)
    selection = broker_queries.select_brokers(snapshot.state, query, tables.keys(columns))
    rows = [departed.recalled(snapshot, row) for row in selection.rows]
    acts = snapshot.state.layout is not Layout.V07  # which moves no replicas
    shown = tables.shown(columns)
    shown = row_selection.columns(key, "broker", lambda entry: str(entry[1].id), shown) if acts else shown
    table = tables.part(
        "brokers-rows",
        shown,
        ((f"broker-{row.id}", row.status, (snapshot.cluster, row)) for row in rows),
        _empty(snapshot, query),
        problems=lambda entry: links.problems(entry[0], paths.broker(entry[1].id)),
    )
    return View(
        title="Brokers",
        parts=(
            _notes(snapshot),
            cluster_map.roomy_block(snapshot),
            table,
            *listing.blocks(SPEC, query, selection, "brokers"),
        ),
        context={
            **listing.context(SPEC, query, shown, "Filter: id, host, rack:a"),
            **(
                row_selection.context(key, "brokers", ("Drain, fill or replace…", "reassign")) if acts else {}
            ),
        },
        fields=tables.fields(columns),
        records=lambda: tables.records(columns, ((snapshot.cluster, row) for row in rows)),
        total=selection.matched,
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
    return cells.known(row.broker, cell, broker_cells.NOT_REGISTERED)


def _host_port(row: BrokerRow) -> Cell:
    if row.last is not None:
        return broker_cells.Last(row.last.address)
    why = "no listener without encryption: see the endpoints"
    return _said(
        row,
        lambda said: (
            broker_cells.Address(row.host_port or "", said.endpoints, why)
            if row.host_port or said.endpoints
            else cells.absent(why)
        ),
    )


def _endpoints(row: BrokerRow) -> Cell:
    why = "registrations of version 1 and of 0.7 hold none"
    return _said(row, lambda said: cells.known(said.endpoints or None, broker_cells.Endpoints, why))


def _rack(row: BrokerRow) -> Cell:
    if row.last is not None and row.last.rack is not None:
        return broker_cells.Last(row.last.rack)
    return _said(row, lambda said: cells.known(said.rack, cells.Text, "the broker names no rack"))


def _version(row: BrokerRow) -> Cell:
    why = "registrations of 0.7 have no version"
    return _said(row, lambda said: cells.known(said.version, cells.Id, why))


def skew(row: BrokerRow) -> Cell:
    share = row.leader_skew_percent
    alert = Severity.WARNING if (share or 0) > registrations.MOST_SKEW_PERCENT else None
    return cells.known(share, lambda part: cells.Percent(part, alert), "no partition prefers it as leader")


def _registered(row: BrokerRow) -> Cell:
    if row.gone_ms is not None:
        return broker_cells.Gone(row.gone_ms)
    return _said(row, lambda _: cells.known(row.registered, cells.Moment, "the registration has no znode"))


def _session(row: BrokerRow) -> Cell:
    why = "the registration is not ephemeral: it stays when the broker goes"
    return _said(row, lambda _: cells.known(row.session or None, broker_cells.Session, why))


def _leaders(cluster: str, row: BrokerRow) -> Cell:
    href = links.broker(cluster, row.id, "q=role%3Aleader")
    words = _against_mean(row.leaders_over_mean_percent)
    return bar_cells.AgainstMean(row.load.leaders, row.means.leaders, row.means.brokers, href, words)


def _replicas(row: BrokerRow) -> Cell:
    words = _against_mean(row.replicas_over_mean_percent)
    return bar_cells.AgainstMean(row.load.replicas, row.means.replicas, row.means.brokers, told=words)


def _against_mean(percent: int | None) -> str:
    return "" if percent is None else f"{skew_facts.signed(percent)} % against the mean"


def _under_replicated(cluster: str, row: BrokerRow) -> Cell:
    href = links.broker(cluster, row.id, "q=is%3Aunder-replicated")
    return bar_cells.OutOf(row.load.under_replicated, row.load.replicas, href)


def _key(field: Callable[[Broker], object]) -> Callable[[BrokerRow], object]:
    """Sorts by what the registration says, None where it says nothing."""
    return lambda row: field(row.broker) or None if isinstance(row.broker, Broker) else None


def _over(noun: str, percent: Callable[[BrokerRow], int | None]) -> ListColumn[BrokerRow]:
    """How far a broker's count lies from the mean of the registered ones."""

    def cell(entry: tuple[str, BrokerRow]) -> Cell:
        none = f"no registered broker has {noun}" if entry[1].broker else broker_cells.NOT_REGISTERED
        return cells.known(percent(entry[1]), skew_facts.OverMean, none)

    return ListColumn(
        f"{noun}_over_mean_percent",
        f"{noun.capitalize()} ± mean %",
        cell,
        is_number=True,
        title=f"its {noun} against the mean of the registered brokers",
        is_shown=False,
        key=percent,
        layouts=tables.FROM_08,
    )


_DEFAULT = "id"
COLUMNS: tuple[ListColumn[BrokerRow], ...] = (
    ListColumn(
        "status",
        "Status",
        lambda entry: cells.Status(entry[1].status, entry[1].words),
        key=lambda row: row.status.rank,
    ),
    ListColumn(
        _DEFAULT,
        "Id",
        lambda entry: broker_cells.Broker(
            entry[1].id, links.broker(entry[0], entry[1].id), is_controller=entry[1].is_controller
        ),
        is_number=True,
        key=lambda row: row.id,
    ),
    ListColumn("host_port", "Host:port", lambda entry: _host_port(entry[1]), key=lambda row: row.host_port),
    ListColumn(
        "endpoints",
        "Endpoints",
        lambda entry: _endpoints(entry[1]),
        is_shown=False,
        key=_key(lambda broker: broker.endpoints),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "rack",
        "Rack",
        lambda entry: _rack(entry[1]),
        key=_key(lambda broker: broker.rack),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "controller",
        "Controller",
        lambda entry: broker_cells.Answer(entry[1].is_controller, "controller"),
        is_shown=False,
        key=lambda row: not row.is_controller,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "partitions",
        "Partitions",
        lambda entry: cells.Number(entry[1].load.partitions_07),
        is_number=True,
        title="that it says it holds (layout 0.7)",
        key=lambda row: row.load.partitions_07,
        layouts=tables.ONLY_07,
    ),
    ListColumn(
        "leaders",
        "Leaders",
        lambda entry: _leaders(*entry),
        is_number=True,
        key=lambda row: row.load.leaders,
        layouts=tables.FROM_08,
    ),
    _over("leaders", lambda row: row.leaders_over_mean_percent),
    ListColumn(
        "replicas",
        "Replicas",
        lambda entry: _replicas(entry[1]),
        is_number=True,
        key=lambda row: row.load.replicas,
        layouts=tables.FROM_08,
    ),
    _over("replicas", lambda row: row.replicas_over_mean_percent),
    ListColumn(
        "preferred_led",
        "Preferred led",
        lambda entry: cells.Number(entry[1].preferred_led),
        is_number=True,
        title="partitions that it leads and whose first replica it is",
        key=lambda row: row.preferred_led,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "leader_skew_percent",
        "Leader skew %",
        lambda entry: skew(entry[1]),
        is_number=True,
        title="of the partitions that prefer it as leader, how many it does not lead",
        key=lambda row: row.leader_skew_percent,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "under_replicated",
        "Under-replicated",
        lambda entry: _under_replicated(*entry),
        is_number=True,
        title="partitions in whose ISR it is missing",
        key=lambda row: row.load.under_replicated,
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "version",
        "Version",
        lambda entry: _version(entry[1]),
        is_number=True,
        title="of the registration",
        is_shown=False,
        key=_key(lambda broker: broker.version),
        layouts=tables.FROM_08,
    ),
    ListColumn(
        "registered", "Registered", lambda entry: _registered(entry[1]), key=lambda row: row.registered
    ),
    ListColumn("session", "Session", lambda entry: _session(entry[1]), key=lambda row: row.session or None),
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
    badge=lambda snapshot: Badge(len(snapshot.state.brokers)),
    render_key=lambda snapshot, _: snapshot.state.loads,  # topics change more often than what brokers carry
)
