"""What a plan still stands on: our own earlier steps are no change by others."""

from __future__ import annotations

import pytest

from tests.cluster.plans import cells, worlds
from zkdash.actions.execution import preconditions
from zkdash.actions.execution.preconditions import Found
from zkdash.cluster.plans import intents
from zkdash.cluster.plans.intents import OffsetAt
from zkdash.cluster.plans.values import Operation
from zkdash.kafka import secrets
from zkdash.znode import Znode


def found(tree: worlds.Tree) -> Found:
    """What is there, as it is read: without secrets."""
    shown = {
        path: Znode.of(secrets.redact(path, znode.data), znode.stat) for path, znode in tree.znodes.items()
    }
    return Found(shown, tree.state())


@pytest.mark.parametrize("kind", [kind for kind in cells.ROWS if "group" not in kind])
def test_from_step_to_step_no_plan_takes_its_own_work_for_somebody_elses(kind: str) -> None:
    tree, plan = cells.planned(kind, "1.1.1")
    own: preconditions.Own = {}
    for number, step in enumerate(plan.steps):
        assert preconditions.differences(plan.steps[number:], own, found(tree)) == []
        expected = [op.version for op in preconditions.operations(step, own)]
        assert len(expected) == len(step.writes)
        tree.apply(step)
        tree.settle()
        own = preconditions.after(step, own)


def test_a_guard_is_as_the_step_before_left_it() -> None:
    """/consumers/G/ids is deleted and made again by each multi, whatever its version was."""
    tree = worlds.world("1.1.1")
    tree.put("/consumers/g/ids")
    tree.put("/consumers/g/ids")
    places = tuple(OffsetAt("t", str(number), 5) for number in range(2))
    plan = tree.plan(intents.ResetOffsets("g", places))
    (step,) = plan.steps
    reviewed = next(write.expected for write in step.writes if write.path == "/consumers/g/ids")
    assert reviewed == 2
    own = preconditions.after(step, {})
    first = next(op for op in preconditions.operations(step, own) if op.path == "/consumers/g/ids")
    assert first.version == 0


def test_somebody_elses_change_after_our_own_step_is_told_as_such() -> None:
    tree, plan = cells.planned("reassign with a throttle", "1.1.1")
    own: preconditions.Own = {}
    for step in plan.steps[:3]:
        tree.apply(step)
        tree.settle()
        own = preconditions.after(step, own)
    tree.put("/config/topics/t", tree.znodes["/config/topics/t"].data)
    (told,) = preconditions.differences(plan.steps[3:], own, found(tree))
    assert told.startswith("/config/topics/t has version")
    assert "our own earlier step left version" in told


def test_only_what_the_controller_takes_one_of_at_a_time_waits_for_others() -> None:
    asks = {
        kind
        for kind in cells.ROWS
        for plan in [cells.planned(kind, "1.1.1")[1]]
        if plan.steps and any(preconditions.needs_freedom(step) for step in plan.steps)
    }
    assert asks == {"elect preferred", "reassign", "reassign with a throttle"}


def test_a_sequential_create_is_compared_with_nothing() -> None:
    _, plan = cells.planned("change config", "1.1.1")
    assert any(write.sequential for write in plan.steps[0].writes)
    assert [op.version for op in preconditions.operations(plan.steps[0], {}) if op.sequential] == [None]
    assert plan.steps[0].writes[0].operation is Operation.SET
