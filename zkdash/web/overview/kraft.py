"""Migration to KRaft: what ZooKeeper tells of it, and what should hold before it begins."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.cluster.analysis import kraft, kraft_readiness
from zkdash.cluster.analysis.kraft import Stage
from zkdash.cluster.analysis.kraft_readiness import Condition
from zkdash.cluster.model.known import Known
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.kafka import paths
from zkdash.kafka.values import Broker, Controller, Features, Migration
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, page, shapes, tables
from zkdash.web.frame.cells import Cell, Record, broker_cells
from zkdash.web.frame.facts import Fact, moment, path, text
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty

NAME: Final = "kraft"

_SEVERITIES = {Stage.UNKNOWN: Severity.UNKNOWN, Stage.LEFT_BEHIND: Severity.WARNING}
_TOLD = {
    Stage.UNKNOWN: "How far a migration is cannot be told: /controller or /migration is not to be had.",
    Stage.ZOOKEEPER: "Not begun. ZooKeeper holds the metadata, and no KRaft controller has found it.",
    Stage.WAITING: (
        "A KRaft controller has found this ZooKeeper, and waits until every broker has registered with it "
        "too. Until then a broker is the controller, and ZooKeeper holds the metadata."
    ),
    Stage.COPYING: "KRaft has taken over as the controller, and copies the metadata out of ZooKeeper.",
    Stage.OWNED: (
        "KRaft owns the metadata. While its controllers are in migration, each change is written into "
        "ZooKeeper too, and the cluster can go back; once they were taken out of it, what is seen here grows "
        "old. ZooKeeper does not tell which: see when /migration was written last."
    ),
    Stage.LEFT_BEHIND: (
        "A broker is the controller, and /migration still names a KRaft controller: either that one takes "
        "over just now, or the cluster went back. Then delete /migration, as Kafka’s own guide says, so that "
        "another migration can begin, and actions are possible again."
    ),
}


class Mode(msgspec.Struct, frozen=True):
    """One broker: its registration, None where it is not registered, and how it runs, as far as is known."""

    cluster: str
    id: int
    broker: Known[Broker]
    severity: Severity
    words: str


class Progress(msgspec.Struct, frozen=True):
    """What stands above the tables."""

    severity: Severity
    stage: str
    told: str
    facts: tuple[Fact, ...]


def look(snapshot: Snapshot, key: PageKey) -> View:  # noqa: ARG001 - a page's signature
    state = snapshot.state
    at = kraft.stage(state)
    conditions = kraft_readiness.conditions(state)
    modes = _modes(snapshot)
    progress = Progress(_SEVERITIES.get(at, Severity.INFO), at.value, _TOLD[at], tuple(_facts(state)))
    unknown = Empty("Nothing is known before the first load from ZooKeeper.")
    return View(
        title="Migration to KRaft",
        parts=(
            Block(id="kraft", template="overview/kraft_facts.html", values=progress),
            tables.part(
                "conditions-rows",
                COLUMNS,
                (
                    (f"condition-{condition.id}", condition.answer.severity, condition)
                    for condition in conditions
                ),
                unknown,
            ),
            tables.part(
                "modes-rows",
                MODES,
                ((f"mode-{mode.id}", mode.severity, mode) for mode in modes),
                Empty("No broker is registered, and none is assigned anything.") if state.loaded else unknown,
            ),
        ),
        context={"headings": tables.headings(COLUMNS, ""), "mode_headings": tables.headings(MODES, "")},
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, conditions),
        total=len(conditions),
        extra=lambda: {
            "stage": at.name.lower(),
            "owner": kraft.owner(state),
            "migration": _record(state),
            "brokers": list(tables.records(MODES, modes)),
        },
    )


def _facts(state: ClusterState) -> list[Fact]:
    controller, migration = kraft.value(state.controller), kraft.value(state.migration)
    feature = kraft.value(state.feature)
    facts = [_fact("Controller", _controller(state, controller), paths.CONTROLLER)]
    if isinstance(migration, Migration):
        facts.append(_fact("Migration", _migrated(migration), paths.MIGRATION))
    elif migration is not None:
        facts.append(_fact("Migration", f"not to be had: {migration.reason}", paths.MIGRATION))
    else:
        facts.append(_fact("Migration", "absent", paths.MIGRATION))
    if state.migration is not None and state.migration.znode is not None:
        facts.append(Fact("Written last", moment(state.migration.znode.mtime)))
    facts.append(_fact("Features", _features(feature), paths.FEATURE))
    return facts


def _fact(label: str, sentence: str, znode: str) -> Fact:
    """What a znode tells, and its path."""
    return Fact(label, format_html('{} <span class="missing">{}</span>', text(sentence), path(znode)))


def _controller(state: ClusterState, controller: object) -> str:
    if controller is None:
        return "absent"
    if not isinstance(controller, Controller):
        return "not to be had"
    if kraft.owner(state) is not None:
        return f"KRaft controller {controller.broker_id}, epoch {controller.kraft_controller_epoch}"
    return f"broker {controller.broker_id}, version {controller.version}"


def _migrated(migration: Migration) -> str:
    if migration.kraft_controller_id < 0:
        return "a KRaft controller has made it, and waits"
    offset = migration.kraft_metadata_offset
    copied = "nothing is copied yet" if offset < 0 else f"written up to offset {cells.grouped(offset)}"
    return f"KRaft controller {migration.kraft_controller_id}, {copied}"


def _features(feature: object) -> str:
    if feature is None:
        return "absent"
    if not isinstance(feature, Features):
        return "not to be had"
    levels = ", ".join(f"{name} {high}" for name, (_, high) in sorted(feature.features.items()))
    return f"version {feature.version}, {levels or 'none finalized'}"


def _record(state: ClusterState) -> Record | None:
    migration = kraft.value(state.migration)
    return msgspec.structs.asdict(migration) if isinstance(migration, Migration) else None


def _modes(snapshot: Snapshot) -> list[Mode]:
    state = snapshot.state
    return [_mode(snapshot.cluster, state, number) for number in sorted(broker_rows.ids(state))]


def _mode(cluster: str, state: ClusterState, number: int) -> Mode:
    registered = kraft.value(state.brokers.get(number))
    if registered is not None:
        return Mode(cluster, number, registered, Severity.OK, "in ZooKeeper mode")
    if kraft.owner(state) is not None:
        return Mode(cluster, number, None, Severity.UNKNOWN, "in KRaft mode, or down")
    return Mode(cluster, number, None, Severity.WARNING, "not registered")


_GONE = "the broker is not registered"


def _said_version(mode: Mode) -> Cell:
    return cells.known(
        mode.broker,
        lambda said: cells.known(said.version, cells.Id, "registrations of 0.7 have no version"),
        _GONE,
    )


def _said_features(mode: Mode) -> Cell:
    def cell(said: Broker) -> Cell:
        words = ", ".join(f"{name} {low} to {high}" for name, (low, high) in (said.features or {}).items())
        return cells.known(words or None, cells.Text, "the registration names no feature")

    return cells.known(mode.broker, cell, _GONE)


COLUMNS: tuple[Column[Condition], ...] = (
    Column("condition", "Condition", lambda condition: cells.Text(condition.what), is_sortable=False),
    Column(
        "answer",
        "Holds?",
        lambda condition: cells.Word(condition.answer.value, condition.answer.severity),
        is_sortable=False,
    ),
    Column("why", "What ZooKeeper tells", lambda condition: cells.Text(condition.why), is_sortable=False),
)
MODES: tuple[Column[Mode], ...] = (
    Column(
        "broker",
        "Broker",
        lambda mode: broker_cells.Broker(mode.id, links.broker(mode.cluster, mode.id)),
        is_number=True,
    ),
    Column("mode", "Runs", lambda mode: cells.Word(mode.words, mode.severity)),
    Column("version", "Registration", _said_version, is_number=True, title="its version: 5 from 2.7 on"),
    Column("features", "Features", _said_features),
)

PAGE = Page(
    name=NAME,
    route="kraft/",
    template="overview/kraft.html",
    look=look,
    areas=frozenset({"brokers", "controller", "admin", "topics", "acls"}),
    canonical=page.without_query,
    shape=shapes.Shape(
        (COLUMNS,),
        {
            "stage": shapes.TEXT,
            "owner": shapes.INTEGER_OR_NULL,
            "migration": shapes.or_null(shapes.struct(Migration)),
            "brokers": shapes.many(shapes.row(MODES)),
        },
    ),
    section="ZooKeeper",
    label="KRaft",
)
