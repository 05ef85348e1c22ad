"""Every kind of plan on the trees of real clusters, and on the one that holds every malformed value."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

import msgspec
import pytest

from tests import recorded
from tests.cluster.plans import worlds
from tests.fixtures import hostile
from tests.narrowing import known
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import intents, proposals
from zkdash.cluster.plans.intents import OffsetAt
from zkdash.cluster.plans.values import MOST_BYTES, MOST_OPERATIONS
from zkdash.kafka.values import Assignment, Layout, Move


@functools.cache
def tree_of(name: str) -> tuple[worlds.Tree, ClusterState]:
    """Without /migration, which in the malformed tree does not parse: that alone would refuse everything."""
    tree = worlds.Tree.of(
        {path: znode for path, znode in recorded.load(name).items() if path != "/migration"}
    )
    return tree, tree.state()


def asked(state: ClusterState) -> Iterator[intents.Intent]:
    """Intents for everything that a cluster holds, and for what it does not."""
    yield intents.ElectPreferred()
    yield intents.ReelectController()
    yield intents.ClearThrottles()
    yield intents.ClearConfigs()
    yield intents.RevertStuck()
    yield intents.ClearStuck("/admin/reassign_partitions")
    yield intents.ClearStuck("/admin/preferred_replica_election")
    for name in sorted({*state.topics, *state.remnants, *state.deletions})[:80]:
        yield intents.AddPartitions(name, 9)
        yield intents.ChangeConfig(name, {"retention.ms": "12345"})
        yield intents.DeleteTopic(name)
        yield intents.CleanUpTopic(name, folders_removed=True)
        yield intents.CreateTopic(f"{name}-new", 3, 1)
        yield intents.Reassign(tuple(Move(name, p, tuple(state.brokers)) for p in range(2)), throttle=10)
    for name, group in sorted(state.groups.items())[:80]:
        places = [(topic, part) for topic, parts in group.offsets.items() for part in parts]
        yield intents.DeleteGroup(name)
        yield intents.DeleteGroup(name, places[0][0] if places else "t")
        yield intents.ResetOffsets(name, tuple(OffsetAt(*place, 1) for place in places))


@pytest.mark.parametrize("name", recorded.TREES)
def test_every_intent_is_planned_or_refused_and_what_is_planned_can_be_written(name: str) -> None:
    tree, state = tree_of(name)
    for intent in asked(state):
        plan = tree.plan(intent)
        assert bool(plan.steps) is not bool(plan.refusals)
        assert hostile.CANARY.encode() not in msgspec.json.encode(plan)
        for step in plan.steps:
            assert step.size < MOST_BYTES
            assert len(step.writes) < MOST_OPERATIONS
        if plan.steps:
            copy = worlds.Tree.of(tree.znodes)
            copy.apply(plan.steps[0])


@pytest.mark.parametrize("name", recorded.TREES)
def test_every_proposal_is_a_plan_or_refused_in_words(name: str) -> None:
    tree, state = tree_of(name)
    brokers = sorted(state.brokers)
    for proposal in (
        proposals.balance(state),
        *(proposals.drain(state, {broker}) for broker in brokers),
        *(proposals.add(state, {broker}) for broker in brokers),
        *(proposals.replace(state, brokers[0], broker) for broker in brokers),
        *(proposals.resize(state, 2, [topic]) for topic in sorted(state.topics)[:50]),
    ):
        assert bool(proposal.moves) is not bool(proposal.refusals)
        refusals = tree.plan(intents.Reassign(proposal.moves)).refusals if proposal.moves else ()
        allowed = ("Another reassignment runs", "There is no controller", "Brokers or topics of 0.7")
        assert all(sentence.startswith(allowed) for sentence in refusals)


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_partitions_added_to_a_recorded_topic_keep_all_that_its_release_wrote(name: str) -> None:
    tree, state = tree_of(name)
    for topic in state.topics.values():
        plan = tree.plan(intents.AddPartitions(topic.name, 99))
        if plan.refusals:
            continue
        [[write]] = [step.writes for step in plan.steps]
        before, after = json.loads(known(write.before)), json.loads(known(write.after))
        assert list(before) == list(after)
        assert {**before, "partitions": 0} == {**after, "partitions": 0}
        assert before["partitions"].items() <= after["partitions"].items()


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_a_recorded_cluster_with_a_controller_can_be_acted_on(name: str) -> None:
    """No rule refuses what real clusters are: of each, each plain topic's config can be changed."""
    tree, state = tree_of(name)
    if state.layout is not Layout.V08 or state.controller is None:
        return
    plain = [t for t in state.topics.values() if isinstance(t.assignment, Assignment) and not t.deleting]
    for topic in plain:
        plan = tree.plan(intents.ChangeConfig(topic.name, {"retention.ms": "12345"}))
        assert plan.refusals == ()
