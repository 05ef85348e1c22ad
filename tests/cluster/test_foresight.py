"""What a plan would do to the findings, against what becomes of a tree on which it is carried out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from tests.cluster import small
from tests.cluster.plans import cells
from tests.cluster.plans.test_matrix import CELLS
from zkdash.cluster import foresight
from zkdash.cluster.checks import CHECKS
from zkdash.cluster.checks.check import CheckContext
from zkdash.cluster.foresight import Foreseen, Foresight
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import intents, outcomes, planner
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.intents import AddPartitions, ChangeConfig, CreateTopic, Intent, Reassign
from zkdash.cluster.plans.values import Ground, Plan, Step, create
from zkdash.cluster.reducer import advance
from zkdash.kafka.values import Move
from zkdash.znode import Batch, Znode

NOW = small.BORN / 1000 + 3600
RACKS = [small.broker(1, rack="a"), small.broker(2, rack="b"), small.broker(3, rack="b")]
CLUSTER: list[small.AnyTree] = [
    *RACKS,
    small.controller(1),
    {"/controller_epoch": small.znode("1")},
]
# What plans ask for beside the state.
BESIDE = {path: small.znode(None) for path in ("/admin/delete_topics", "/config/changes", "/config/topics")}


def foreseen(
    state: ClusterState, intent: Intent, most: int = foresight.MOST, tree: Mapping[str, Znode] = BESIDE
) -> Foresight:
    plan = planner.plan(intent, Ground(state, tree))
    assert not plan.refusals
    (found,) = foresight.foresee([plan], CheckContext(state, now=NOW), most)
    assert found is not None
    return found


def told(found: tuple[Foreseen, ...]) -> dict[str, tuple[Severity, tuple[tuple[str, str], ...]]]:
    return {one.check: (one.severity, one.causes) for one in found}


def test_a_reassignment_that_shares_a_rack_or_leaves_one_replica_says_so() -> None:
    state = small.built(*CLUSTER, small.topic("t", {0: [1, 2], 1: [2, 1]}), small.config("t", cleanup="x"))
    shared = foreseen(state, Reassign((Move("t", 0, (2, 3)),)))
    assert told(shared.begun) == {"D14": (Severity.WARNING, (("t", "partition 0"),))}
    assert shared.begun[0].sentence == "1 partition of 1 topic has replicas that share a rack"
    assert shared.ended == ()
    assert len(shared.assumed) == 1
    assert "a controller decides whether they ever arrive" in shared.assumed[0]
    alone = foreseen(state, Reassign((Move("t", 0, (1,)), Move("t", 1, (2,)))))
    assert told(alone.begun) == {"D15": (Severity.WARNING, (("t", "2 of 2 have one replica"),))}
    (back,) = foreseen(
        small.built(*CLUSTER, small.topic("t", {0: [2]})), Reassign((Move("t", 0, (1, 2)),))
    ).ended
    assert (back.check, back.severity) == ("D15", Severity.WARNING)


def test_more_of_a_finding_counts_as_many_as_it_names_and_how_many_are_so_anyway() -> None:
    state = small.built(*CLUSTER, small.topic("t", {0: [2, 3], 1: [1, 2], 2: [2, 1]}))
    found = foreseen(state, Reassign((Move("t", 1, (3, 2)), Move("t", 2, (2, 3)))))
    assert [(one.sentence, one.causes, one.unchanged) for one in found.begun] == [
        (
            "3 partitions of 1 topic have replicas that share a rack",
            (("t", "partition 0; partition 1; partition 2"),),
            1,
        )
    ]


def test_min_isr_above_the_replication_factor_is_critical() -> None:
    state = small.built(*CLUSTER, small.topic("t", {0: [1, 2]}))
    found = foreseen(state, ChangeConfig("t", {"min.insync.replicas": "3"}))
    assert told(found.begun) == {
        "D9": (Severity.CRITICAL, (("t", "partition 0: 2 of 3 that must be in sync"),)),
    }
    assert found.assumed == (outcomes.WRITTEN,)
    below = small.built(
        *CLUSTER, small.topic("t", {0: [1, 2]}), small.config("t", **{"min.insync.replicas": "3"})
    )
    assert [one.check for one in foreseen(below, ChangeConfig("t", {}, ("min.insync.replicas",))).ended] == [
        "D9"
    ]
    poor = foreseen(
        small.built(*CLUSTER), CreateTopic("new", 1, 1, config={"min.insync.replicas": "2"}, start=0, shift=0)
    )
    assert told(poor.begun).keys() == {"D9", "D15"}


def test_a_deleted_topic_leaves_its_groups_offsets_behind() -> None:
    offset = {"/consumers/g/offsets/t/0": small.znode("7")}
    state = small.built(*CLUSTER, small.topic("t", {0: [1]}), small.group("g", {}), offset)
    found = foreseen(state, intents.DeleteTopic("t"))
    assert told(found.begun) == {"D43": (Severity.INFO, (("g", "t is not there"),))}
    assert [one.check for one in found.ended] == ["D15"]
    assert any("Judged as if the topic was gone." in sentence for sentence in found.assumed)
    lost = small.built(*CLUSTER, small.group("g", {}), offset)
    kept = {
        path: small.znode(None) for path in ("/consumers/g", "/consumers/g/offsets", "/consumers/g/offsets/t")
    }
    gone = foreseen(lost, intents.DeleteGroup("g"), tree=kept | offset)
    assert {one.check for one in gone.ended} >= {"D43", "D44"}
    assert gone.begun == ()


def test_an_election_ends_what_is_held_against_the_leaders() -> None:
    state = small.built(*CLUSTER, small.topic("t", {0: [1, 2]}), small.state("t", 0, 2, [2, 1]))
    found = foreseen(state, intents.ElectPreferred())
    assert ([one.check for one in found.begun], [one.check for one in found.ended]) == ([], ["D12"])


def test_what_consumers_have_yet_to_divide_is_not_held_against_anybody() -> None:
    group = small.group("g", {"g_h-1-a": ["t"]}, {"t": [0]})
    state = small.built(*CLUSTER, small.topic("t", {0: [1, 2]}), group)
    found = foreseen(state, AddPartitions("t", 2))
    assert "D40" not in told(found.begun)
    assert "How consumers divide the partitions afterwards is not judged." in found.assumed


def test_what_must_last_to_be_a_finding_says_how_long() -> None:
    waiting = small.built(*CLUSTER, small.topic("t", {0: [1, 2]}), small.reassignment(("t", 0, [2, 1])))
    plan = Plan("x", "x", (Step("x", (create("/admin/delete_topics/gone", None),), Written()),))
    (found,) = foresight.foresee([plan], CheckContext(waiting, now=NOW))
    assert found is not None
    assert [(one.check, one.lasting) for one in found.begun] == [("D23", 60.0)]


def test_many_causes_are_counted_and_few_named() -> None:
    names = [f"t{number:02}" for number in range(42)]
    state = small.built(*CLUSTER, *(small.topic(name, {0: [1, 2]}) for name in names))
    found = foreseen(state, Reassign(tuple(Move(name, 0, (2, 3)) for name in names)))
    (shared,) = (one for one in found.begun if one.check == "D14")
    assert [name for name, _ in shared.causes] == names[:5]
    assert shared.more == 37


def test_a_large_plan_is_judged_in_part_and_says_so() -> None:
    names = [f"t{number:02}" for number in range(10)]
    state = small.built(*CLUSTER, *(small.topic(name, {0: [1, 2], 1: [1, 2]}) for name in names))
    intent = Reassign(tuple(Move(name, 0, (2, 3)) for name in names))
    found = foreseen(state, intent, most=7)
    (shared,) = (one for one in found.begun if one.check == "D14")
    assert [name for name, _ in shared.causes] == names[:3]
    assert any("not looked at: 7." in sentence for sentence in found.assumed)
    assert all("not looked at" not in sentence for sentence in foreseen(state, intent).assumed)


def test_several_plans_share_what_may_be_judged() -> None:
    state = small.built(*CLUSTER, *(small.topic(name, {0: [1, 2]}) for name in "ab"))
    plans = [planner.plan(Reassign((Move(name, 0, (2, 3)),)), Ground(state)) for name in "ab"]
    first, second = foresight.foresee(plans, CheckContext(state, now=NOW), 1)
    assert first is not None
    assert second is not None
    assert ([one.check for one in first.begun], second.begun) == (["D14"], ())


def test_nothing_is_foreseen_of_a_refused_plan_or_before_the_first_load() -> None:
    state = small.built(*CLUSTER, small.topic("t", {0: [1, 2]}))
    plan = planner.plan(Reassign((Move("t", 0, (2, 3)),)), Ground(state))
    refused = Plan("reassign", "t", refusals=("no",))
    unloaded = msgspec.structs.replace(state, loaded=False)
    assert foresight.foresee([refused], CheckContext(state, now=NOW)) == [None]
    assert foresight.foresee([plan], CheckContext(unloaded, now=NOW)) == [None]


def test_a_topic_that_nobody_can_edit_is_named() -> None:
    state = small.built(*CLUSTER, small.topic("t", {0: [1, 2]}))
    plan = planner.plan(Reassign((Move("t", 0, (2, 3)),)), Ground(state))
    torn, _ = small.step(state, {"/brokers/topics/t": small.znode("{")})
    (found,) = foresight.foresee([plan], CheckContext(torn, now=NOW))
    assert found is not None
    assert any(sentence.endswith("cannot be understood: t.") for sentence in found.assumed)


PLANNED = [(kind, era) for kind, era, cell in CELLS if isinstance(cell, list)]


@pytest.mark.parametrize(("kind", "era"), PLANNED)
def test_what_is_foreseen_is_what_the_checks_find_afterwards(kind: str, era: str) -> None:
    """Of every plan of the table: its outcome, and a tree on which a controller carried it out."""
    tree, plan = cells.planned(kind, era)
    before = tree.state()
    now = 1.0
    outcome = outcomes.of(plan, before, now, foresight.MOST)
    foreseen_, _ = advance.advance(before, Batch(outcome.changed, before.zxid + 1))
    tree.run(plan)
    for check in CHECKS:
        found, real = (check.causes(CheckContext(one, now=now)) for one in (foreseen_, tree.state()))
        assert _who(found) == _who(real), check.id


def _who(causes: object) -> object:
    """Who, how often and how bad; not since when, and not by which running number."""
    if not isinstance(causes, dict) and not hasattr(causes, "items"):
        return causes
    return sorted(
        (name.rstrip("0123456789") if "config_change_" in name else name, one.count, one.severity)
        for name, one in causes.items()
    )


def test_the_state_that_is_looked_at_stays_as_it_is() -> None:
    state = small.built(*CLUSTER, small.topic("t", {0: [1, 2]}))
    before = small.plain(state)
    foreseen(state, Reassign((Move("t", 0, (2, 3)),)))
    assert small.plain(state) == before
    assert isinstance(state.topics["t"].znode, Znode)
