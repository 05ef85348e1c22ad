"""How it works: the life of a consumer group of the ZooKeeper kind, with one group's own znodes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

import msgspec

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.rebalance.values import Expectation, Part
from zkdash.cluster.tables.groups.partitions import Catalogue
from zkdash.kafka.values import Layout
from zkdash.live.parts import Block, PageKey, Table
from zkdash.live.parts import Part as LivePart
from zkdash.live.snapshot import Snapshot
from zkdash.live.watching import positions
from zkdash.web.frame import links, shapes, tables
from zkdash.web.frame.cells import Record
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.parameters import Parameters
from zkdash.web.frame.tables import Empty
from zkdash.web.groups import expectations, life, life_tables
from zkdash.web.groups.life import Line, Sentence, Watch
from zkdash.web.groups.life_tables import FIELDS, PLAN, WATCHES, ZNODES, PlanRow, WatchRow, ZnodeRow

_MOST_SUGGESTED = 200
_PARAMETERS = Parameters(frozenset({"group"}))


class Chosen(msgspec.Struct, frozen=True):
    """The group that is shown, and what is known of it. `is_there` is False where ZooKeeper holds none."""

    name: str
    group: Group
    catalogue: Catalogue
    is_there: bool

    @property
    def expected(self) -> Expectation:
        return self.catalogue.expected


class Introduction(msgspec.Struct, frozen=True):
    """What the page says above its steps of the group that it shows: its page, or why there is none."""

    name: str
    href: str
    missing: str = ""


class Step(msgspec.Struct, frozen=True):
    """How far the group is with a step, and sentences that are of this moment."""

    state: Sentence
    notes: tuple[str, ...] = ()


def look(snapshot: Snapshot, key: PageKey) -> View:
    chosen = _chosen(snapshot, key.query)
    cluster, group, expected = snapshot.cluster, chosen.group, chosen.expected
    settled = chosen.name not in snapshot.restless
    lines = (*life.registered(group), *life.claimed(group), *life.committed(group))
    return View(
        title="How it works",
        parts=(
            Block("introduction", "groups/how_it_works_group.html", _introduction(snapshot, chosen)),
            *_steps(snapshot, chosen, settled=settled),
            _znodes("register", cluster, lines, "No member is registered."),
            _watches(cluster, life.watched(snapshot.state, group, expected)),
            _plan(cluster, chosen, settled=settled),
            _znodes("claim", cluster, lines, "No partition is claimed."),
            _znodes("commit", cluster, lines, "No offset of the group is in ZooKeeper."),
        ),
        context={
            "is_07": expected.inputs.is_07 or snapshot.state.layout is Layout.V07,
            "is_there": chosen.is_there,
            "chosen": chosen.name,
            "names": list(itertools.islice(sorted(snapshot.state.groups), _MOST_SUGGESTED)),
            "znode_headings": tables.headings(ZNODES, ""),
            "watch_headings": tables.headings(WATCHES, ""),
            "plan_headings": tables.headings(PLAN, ""),
        },
        fields=tables.fields(FIELDS),
        records=lambda: tables.records(FIELDS, (ZnodeRow(cluster, line) for line in lines)),
        total=len(lines),
        extra=lambda: _extra(snapshot, chosen, settled=settled),
    )


def _chosen(snapshot: Snapshot, query: str) -> Chosen:
    name = _PARAMETERS.read(query).last_as_written("group") or life.chosen(snapshot.state) or ""
    group = snapshot.state.groups.get(name)
    shown = group or Group(name)
    return Chosen(name, shown, expectations.of(snapshot, shown), group is not None)


def _introduction(snapshot: Snapshot, chosen: Chosen) -> Introduction:
    missing = ""
    if not snapshot.state.loaded:
        missing = "Groups are not known before the first load from ZooKeeper."
    elif not chosen.is_there and chosen.name:
        missing = f"No group named “{chosen.name}” is in ZooKeeper; its steps are told without znodes."
    elif not chosen.is_there:
        missing = (
            "No group of this kind is in ZooKeeper: consumers of 0.9 and later keep theirs in Kafka."
            " The steps are told with an example that is made up."
        )
    return Introduction(
        chosen.name, links.group(snapshot.cluster, chosen.name) if chosen.is_there else "", missing
    )


def _states(snapshot: Snapshot, chosen: Chosen, *, settled: bool) -> dict[str, Step]:
    """How far the group is with each step."""
    group, expected = chosen.group, chosen.expected
    in_kafka = bool(positions.kept(snapshot.samples, chosen.name))
    return {
        "register": Step(life.state_of_registering(group)),
        "compute": Step(life.state_of_computing(expected), life.divided(expected)),
        "claim": Step(life.state_of_claiming(expected, settled=settled)),
        "commit": Step(life.state_of_committing(group, is_in_kafka=in_kafka)),
    }


def _steps(snapshot: Snapshot, chosen: Chosen, *, settled: bool) -> Iterable[LivePart]:
    states = _states(snapshot, chosen, settled=settled)
    for name, step in states.items():
        shown = step if chosen.is_there else None
        yield Block(f"step-{name}", "groups/how_it_works_step.html", shown)


def _znodes(step: str, cluster: str, lines: Sequence[Line], empty: str) -> Table:
    return tables.part(
        f"{step}-rows",
        ZNODES,
        (
            (links.element_id(step, line.path), Severity.OK, ZnodeRow(cluster, line))
            for line in lines
            if line.step == step
        ),
        Empty(empty),
    )


def _watches(cluster: str, watches: Sequence[Watch]) -> Table:
    return tables.part(
        "watch-rows",
        WATCHES,
        ((links.element_id("watch", watch.path), Severity.OK, WatchRow(cluster, watch)) for watch in watches),
        Empty("Nothing is watched."),
    )


def _plan(cluster: str, chosen: Chosen, *, settled: bool) -> Table:
    rows = (PlanRow(cluster, chosen.name, part, settled) for part in _parts(chosen))
    return tables.part(
        "plan-rows",
        PLAN,
        (
            (links.element_id("plan", f"{row.part.topic}/{row.part.key}"), life_tables.severity(row), row)
            for row in rows
        ),
        Empty("There is nothing to divide."),
    )


def _parts(chosen: Chosen) -> list[Part]:
    entries = (entry.part for entry in chosen.catalogue.entries if entry.part is not None)
    return list(itertools.islice(entries, life.MOST))


def _extra(snapshot: Snapshot, chosen: Chosen, *, settled: bool) -> Record:
    cluster, expected = snapshot.cluster, chosen.expected
    states = _states(snapshot, chosen, settled=settled)
    plan = (PlanRow(cluster, chosen.name, part, settled) for part in _parts(chosen))
    watches = (WatchRow(cluster, watch) for watch in life.watched(snapshot.state, chosen.group, expected))
    return {
        "group": chosen.name if chosen.is_there else None,
        "rule": expected.against.value if chosen.is_there and expected.plans else None,
        "steps": [
            {
                "step": name,
                "status": step.state.severity.value,
                "sentence": step.state.text,
                "notes": [*step.notes],
            }
            for name, step in states.items()
        ],
        "watches": list(tables.records(WATCHES, watches)),
        "plan": list(tables.records(PLAN, plan)),
    }


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """Which group is shown."""
    given = _PARAMETERS.read(raw)
    name = given.last_as_written("group")
    return (urlencode({"group": name}, errors="surrogatepass") if name else ""), tuple(given.notes)


def render_key(snapshot: Snapshot, key: PageKey) -> object:
    """Another value whenever the group, or what is expected of it, is another."""
    chosen = _chosen(snapshot, key.query)
    in_kafka = bool(positions.kept(snapshot.samples, chosen.name))
    return (
        chosen.group,
        chosen.catalogue.entries,
        chosen.name in snapshot.restless,
        in_kafka,
        len(snapshot.state.topics),
    )


_STEPS = shapes.many(
    shapes.fields(step=shapes.TEXT, status=shapes.TEXT, sentence=shapes.TEXT, notes=shapes.TEXTS)
)
PAGE = Page(
    name="how-it-works",
    route="how-it-works/",
    template="groups/how_it_works.html",
    look=look,
    areas=frozenset({"brokers"}),
    section="ZooKeeper",
    label="How it works",
    render_key=render_key,
    canonical=canonical,
    shape=shapes.Shape(
        (FIELDS,),
        {
            "group": shapes.TEXT_OR_NULL,
            "rule": shapes.TEXT_OR_NULL,
            "steps": _STEPS,
            "watches": shapes.many(shapes.row(WATCHES)),
            "plan": shapes.many(shapes.row(PLAN)),
        },
        parameters={"group": shapes.TEXT},
    ),
)
