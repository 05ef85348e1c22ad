"""A dry run on a real ZooKeeper: the plan that the tests' tree gives, and nothing written."""

from __future__ import annotations

import msgspec
import pytest

from tests.cluster.plans import cells, worlds
from tests.cluster.plans.test_real_multi import copied
from tests.conftest import Chroot
from tests.faults.rounds import rounds
from tests.zk import everything
from tests.zk.reader.test_one_shot import config_of
from zkdash.actions.queue import planning
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Plan
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.zk.reader import one_shot

pytestmark = pytest.mark.zk


def _prepared(kind: str, era: str, chroot: Chroot) -> tuple[Intent, worlds.Tree]:
    asked, change = cells.ROWS[kind]
    tree = worlds.world(era)
    if change:
        change(tree)
    copied(chroot.client, tree)
    return asked(tree), tree


@pytest.mark.parametrize("kind", cells.ROWS)
@pytest.mark.parametrize("seed", rounds("dry", ci=1, full=100))
def test_a_dry_run_of_every_kind_writes_nothing(seed: int, kind: str, chroot: Chroot) -> None:
    """Its plan is the one that the tests' tree has on paper."""
    intent, tree = _prepared(kind, "1.1.1", chroot)
    config = config_of(chroot.address)
    before = everything.below(chroot.client)
    plan = planning.plan(config, intent)
    assert everything.below(chroot.client) == before
    paper = tree.plan(intent)
    assert _shape(plan) == _shape(paper)


def test_a_plan_from_a_state_is_that_of_the_whole_cluster(chroot: Chroot) -> None:
    intent, _ = _prepared("reassign with a throttle", "3.9.1", chroot)
    config = config_of(chroot.address)
    state, _ = advance.advance(ClusterState(), one_shot.load(config, paths.ROOTS))
    assert planning.plan(config, intent, state) == planning.plan(config, intent)


def _shape(plan: Plan) -> object:
    """A plan without the versions, which the tests' tree counts otherwise; kazoo writes no null."""
    steps = [
        (step.title, [(w.path, w.operation, w.before or None, w.after or None, w.edit) for w in step.writes])
        for step in plan.steps
    ]
    return msgspec.to_builtins((plan.target, plan.refusals, plan.warnings, steps))
