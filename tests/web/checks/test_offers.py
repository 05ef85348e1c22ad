"""The action that a check offers: its link, opened and proposed as it is, is taken, and mends what was found.

Each fault is planted in a real ZooKeeper, where the plan is made. What brokers then do is done by hand.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import pytest
from django.test import Client
from kazoo.exceptions import NoNodeError
from pytest_django.fixtures import Settings

from tests.cluster.checks import planting, trees
from tests.cluster.checks.cases.controller import moves
from tests.cluster.checks.every_case import CASES
from tests.cluster.checks.planting import Case, document, of, text
from tests.conftest import Chroot
from tests.narrowing import known
from tests.web import states
from tests.web.actions.forms.conftest import operator, signed_in
from tests.web.markup import Markup
from zkdash import live
from zkdash.actions import documents
from zkdash.actions.models import Action
from zkdash.cluster import checks
from zkdash.cluster.checks import CheckContext, Silence, assignment_audit
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.goals import Assigned, Consumed
from zkdash.cluster.plans.values import Plan, Write
from zkdash.kafka import paths
from zkdash.kafka.payloads import editing
from zkdash.kafka.values import Election
from zkdash.live.parts import PageKey
from zkdash.web.checks import offers
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.znode import Operation

__all__ = ["operator", "signed_in"]

pytestmark = [pytest.mark.zk, pytest.mark.django_db]

KEY = PageKey("demo", "checks", rights="operator")
THREE = {0: [1, 2, 3]}
# What nobody but a person can say: where a group shall go on, and that somebody removed folders.
SAID: Mapping[str, Mapping[str, str]] = {
    "reset-offsets": {"way": "value", "value": "7"},
    "clean-up-topic": {"folders_removed": "on"},
}
# Checks that offer an action for some of their causes only.
PARTLY = {"D5", "D43", "D58"}

MORE = [
    # the preferred replica is in sync, and another leads
    of("D5", {"t"}, trees.topic("t", THREE) | trees.state("t", 0, 2, [1, 3]), {}),
    of(
        "D23", {paths.deletion("t"), paths.deletion("u")}, {paths.deletion(one): text("") for one in "tu"}, {}
    ),
    of("D24", {paths.REASSIGNMENT}, trees.topic("t", THREE) | moves(("t", 0, [1, 9])), {}),
    of(
        "D24",
        {paths.REASSIGNMENT},
        # as 2.4 and later write it once they began
        trees.assignment("t", {0: [9, 1, 2, 3]}, adding_replicas={"0": [9]}, removing_replicas={"0": [2]})
        | trees.state("t", 0, 1, [1, 2, 3])
        | moves(("t", 0, [9, 1, 3])),
        {},
    ),
    of(
        "D24",
        {paths.REASSIGNMENT},
        # as 1.1 writes it: nothing but the ISR tells who was there before
        trees.assignment("t", {0: [9, 1, 2, 3]}, version=1)
        | trees.state("t", 0, 1, [1, 2, 3])
        | moves(("t", 0, [9, 1, 3])),
        {},
    ),
    of("D24", {paths.REASSIGNMENT}, moves(("absent", 0, [1])), {}),
    of("D25", {"absent"}, moves(("absent", 0, [1])), {}),
    of("D27", {paths.ELECTION}, {paths.ELECTION: text("{nope")}, {}),
    of(
        "D27",
        {paths.ELECTION},
        {paths.ELECTION: document({"version": 1, "partitions": [{"topic": "absent", "partition": 0}]})},
        {},
    ),
    of("D43", {"left"}, trees.offset("left", "gone", "0", "1") | trees.offset("left", "fine", "0", "1"), {}),
    of("D58", {"__consumer_offsets"}, trees.topic("__consumer_offsets", {0: [1], 1: [2]}), {}),
]


def _name(case: Case) -> str:
    return case.check


OFFERING = [case for case in CASES if checks.BY_ID[case.check].deeds]


@pytest.fixture
def demo(chroot: Chroot, settings: Settings) -> Callable[[Case], ClusterState]:
    """Plants the fault of a case and publishes the cluster with what the check holds against it."""
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", *parse_address(chroot.address), ask_brokers=False),)

    def plant(case: Case) -> ClusterState:
        healthy = {path: node for path, node in trees.HEALTHY.items() if path not in case.gone}
        planting.plant(chroot, healthy | {paths.CONFIG_CHANGES: planting.Planted()} | case.fault)
        return publish(chroot, case)

    return plant


def publish(chroot: Chroot, case: Case) -> ClusterState:
    state = planting.read(chroot)
    seen = planting.watched(state, case.check, case.after, case.facts[0])
    made = msgspec.structs.replace(states.snapshot(), state=state, observations=seen, as_of=1.0, stale=False)
    live.publish("demo", made)
    return state


def test_every_check_with_an_action_is_tried() -> None:
    declared = {check.id for check in checks.CHECKS if check.deeds}
    assert {case.check for case in OFFERING} == declared
    tried = {case.check for case in (*OFFERING, *MORE)}
    assert declared == tried


@pytest.mark.parametrize("case", [*OFFERING, *MORE], ids=_name)
def test_the_offered_action_is_taken_and_mends_what_it_was_offered_for(
    case: Case, demo: Callable[[Case], ClusterState], operator: Client, chroot: Chroot
) -> None:
    demo(case)
    deed = offers.of(known(live.current("demo")), case.check, KEY)
    if deed is None:
        assert case.check in PARTLY
        return
    kind = deed.href.split("?")[0].rstrip("/").rpartition("/")[2]
    assert kind in checks.BY_ID[case.check].deeds
    page = Markup(operator.get(deed.href))
    assert page.texts("p.note") == [], page.texts("p.note")
    filled = {**_filled(page), **SAID.get(kind, {})}
    answer = operator.post(deed.href.split("?")[0], {**filled, "do": "propose"})
    assert answer.status_code == 303, Markup(answer).texts(".fault")
    before = _counted(planting.read(chroot), case)
    for action in Action.objects.order_by("id"):
        plan = documents.plan(bytes(action.plan))
        assert plan is not None
        assert plan.refusals == ()
        _carry_out(chroot, plan)
    if kind == "reelect-controller":
        return  # what a new controller makes of it, only brokers show
    left = _counted(planting.read(chroot), case)
    assert left != before
    assert all(count <= before[name] for name, count in left.items())
    if case.check not in PARTLY | {"D29"}:
        assert left == {}


def _counted(state: ClusterState, case: Case) -> dict[str, int]:
    """How often each cause fails the check now."""
    sight = CheckContext(
        state, case.facts[0], survey=assignment_audit.look(assignment_audit.EMPTY, state), now=time.time()
    )
    found = checks.BY_ID[case.check].causes(sight)
    return {} if isinstance(found, Silence) else {name: cause.count for name, cause in found.items()}


def _filled(page: Markup) -> dict[str, Any]:
    """What the form holds as it was opened, as a browser would send it."""
    found: dict[str, Any] = {}
    for field in page.root.xpath("//form[contains(@class, 'ask')]//*[@name]"):
        name, kind = field.get("name"), field.get("type", "")
        if name in {"csrfmiddlewaretoken", "do"}:
            continue
        if field.tag == "textarea":
            found[name] = (field.text or "").lstrip("\n")
        elif field.tag == "select":
            found[name] = next((one.get("value") for one in field if one.get("selected") is not None), "")
        elif kind in {"radio", "checkbox"}:
            if field.get("checked") is not None:
                found.setdefault(name, []).append(field.get("value", "on"))
        elif kind != "file":
            found[name] = field.get("value", "")
    return found


# What brokers and zkdash's own worker do


def _carry_out(chroot: Chroot, plan: Plan) -> None:
    for step in plan.steps:
        for write in step.writes:
            _write(chroot, write)
        state = planting.read(chroot)
        if isinstance(step.goal, Assigned):
            _assign(chroot, step.goal)
        elif isinstance(step.goal, Consumed) and state.election is not None:
            assert isinstance(state.election.value, Election)
            _elect(chroot, state, state.election.value.partitions)


def _write(chroot: Chroot, write: Write) -> None:
    if write.operation is Operation.CREATE:
        chroot.client.create(write.path, write.after or b"", sequence=write.sequential)
    elif write.operation is Operation.SET:
        data = write.after or b""
        if write.edit is not None:
            data = editing.merge_config(chroot.client.get(write.path)[0], write.edit.put, write.edit.drop)
        chroot.client.set(write.path, data, version=write.expected or 0)
    elif write.operation is Operation.DELETE and write.path != paths.CONTROLLER:
        chroot.client.delete(write.path, version=write.expected or 0)


def _assign(chroot: Chroot, goal: Assigned) -> None:
    """The replicas are as asked for, all in sync, the first leads (auto.leader.rebalance.enable)."""
    for move in goal.moves:
        path = paths.topic(move.topic)
        topic = json.loads(chroot.client.get(path)[0])
        topic["partitions"][str(move.partition)] = list(move.replicas)
        for changed in ("adding_replicas", "removing_replicas"):
            topic.get(changed, {}).pop(str(move.partition), None)
        chroot.client.set(path, json.dumps(topic).encode())
        replicas = list(move.replicas)
        _lead(chroot, move.topic, move.partition, leader=replicas[0], isr=replicas)
    _gone(chroot, paths.REASSIGNMENT)


def _elect(chroot: Chroot, state: ClusterState, partitions: Iterable[tuple[str, int]]) -> None:
    for name, number in partitions:
        assignment: Any = state.topics[name].assignment
        _lead(chroot, name, number, leader=assignment.partitions[number][0])
    _gone(chroot, paths.ELECTION)


def _lead(chroot: Chroot, name: str, number: int, **changed: Any) -> None:
    path = paths.state(name, number)
    known = json.loads(chroot.client.get(path)[0])
    chroot.client.set(path, json.dumps(known | changed).encode())


def _gone(chroot: Chroot, path: str) -> None:
    with contextlib.suppress(NoNodeError):
        chroot.client.delete(path)
