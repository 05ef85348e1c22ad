"""The migration to KRaft, from what a real one of 3.9 was seen to leave in ZooKeeper."""

from __future__ import annotations

import pytest

from tests import recorded
from tests.cluster import small
from tests.cluster.plans.worlds import migration
from zkdash.cluster.analysis import kraft, kraft_readiness
from zkdash.cluster.analysis.kraft import Stage
from zkdash.cluster.analysis.kraft_readiness import Answer
from zkdash.cluster.model.state import ClusterState
from zkdash.znode import Unreadable

BY_BROKER = {"/controller": small.json_(version=2, brokerid=1, timestamp="1", kraftControllerEpoch=-1)}
BY_KRAFT = {"/controller": small.json_(version=2, brokerid=3000, timestamp="1", kraftControllerEpoch=1)}
WAITS = {"/migration": small.znode(migration(-1, epoch=-1))}
TAKEN = {"/migration": small.znode(migration(3000))}
COPIED = {"/migration": small.znode(migration(3000, offset=62))}


def _registered(*numbers: int) -> small.Tree:
    found: small.Tree = {}
    for number in numbers:
        fields = {"host": "h", "port": number, "endpoints": [f"PLAINTEXT://h:{number}"], "timestamp": "1"}
        protocols = {"PLAINTEXT": "PLAINTEXT"}
        more = {"listener_security_protocol_map": protocols, "features": {}, "jmx_port": -1}
        found[f"/brokers/ids/{number}"] = small.json_(version=5, **fields, **more)
    return found


FRESH = (
    _registered(1, 2),
    small.topic("t", {0: [1, 2]}),
    {"/feature": small.json_(version=2, status=1, features={})},
    {"/cluster/id": small.json_(version="1", id="abc")},
)


def _built(*trees: small.AnyTree) -> ClusterState:
    return small.built(*FRESH, *trees)


@pytest.mark.parametrize(
    ("trees", "stage", "owner", "refuses"),
    [
        ((BY_BROKER,), Stage.ZOOKEEPER, None, False),
        ((), Stage.ZOOKEEPER, None, False),
        ((BY_BROKER, WAITS), Stage.WAITING, None, False),
        ((BY_KRAFT, WAITS), Stage.COPYING, 3000, True),
        ((BY_KRAFT, TAKEN), Stage.COPYING, 3000, True),
        ((BY_KRAFT, COPIED), Stage.OWNED, 3000, True),
        ((BY_KRAFT,), Stage.COPYING, 3000, True),
        ((BY_BROKER, COPIED), Stage.LEFT_BEHIND, None, True),
        ((BY_BROKER, {"/migration": small.znode("{")}), Stage.UNKNOWN, None, True),
        ((BY_BROKER, {"/migration": Unreadable("no right")}), Stage.UNKNOWN, None, True),
        (({"/controller": small.znode("{")}, WAITS), Stage.UNKNOWN, None, False),
    ],
)
def test_controller_and_migration_tell_the_stage_and_who_owns_the_metadata(
    trees: tuple[small.AnyTree, ...], stage: Stage, owner: int | None, refuses: bool
) -> None:
    state = _built(*trees)
    assert kraft.stage(state) is stage
    assert kraft.owner(state) == owner
    assert bool(kraft.refusal(state)) is refuses
    if owner is not None:
        assert kraft.controller(state) is None


def test_what_was_read_anew_counts_before_what_is_known() -> None:
    state = _built(BY_BROKER)
    assert kraft.refusal(state) == ""
    assert "3000" in kraft.refusal(state, _built(COPIED).migration)


def test_before_the_first_load_nothing_is_known() -> None:
    assert kraft.stage(ClusterState()) is Stage.UNKNOWN
    assert kraft_readiness.conditions(ClusterState()) == ()


def _answers(state: ClusterState) -> dict[str, Answer]:
    return {one.id: one.answer for one in kraft_readiness.conditions(state)}


def test_a_healthy_cluster_says_no_only_to_the_controller_that_is_missing() -> None:
    answers = _answers(_built(BY_BROKER))
    assert [name for name, answer in answers.items() if answer is Answer.NO] == ["controller"]
    assert [name for name, answer in answers.items() if answer is Answer.YES] == [
        "registered",
        "idle",
        "deletions",
        "whole",
        "authorizer",
    ]
    assert _answers(_built(BY_BROKER, WAITS))["controller"] is Answer.YES


@pytest.mark.parametrize(
    ("trees", "condition", "answer", "words"),
    [
        ((small.controller(1),), "release", Answer.NO, "version 1: broker 1 is older"),
        ((BY_BROKER, small.broker(2)), "protocol", Answer.NO, "Broker 2 registered with a version below 5"),
        (({"/feature": None},), "protocol", Answer.NO, "no /feature"),
        (
            ({"/feature": small.json_(version=1, status=1, features={})},),
            "protocol",
            Answer.NO,
            "older than 3.3",
        ),
        (({"/feature": small.znode("{")},), "protocol", Answer.UNKNOWN, "not to be had"),
        (({"/brokers/ids/2": None},), "registered", Answer.NO, "Broker 2 holds replicas"),
        (({"/brokers/ids/2": small.znode("{")},), "registered", Answer.UNKNOWN, "cannot be read"),
        (
            (BY_KRAFT, COPIED, {"/brokers/ids/2": None}),
            "registered",
            Answer.UNKNOWN,
            "in KRaft mode, or down",
        ),
        (({"/cluster/id": None},), "cluster-id", Answer.NO, "not to be had"),
        ((small.reassignment(("t", 0, [2, 1])),), "idle", Answer.NO, "A reassignment runs of t"),
        (({"/admin/delete_topics/t": small.znode(None)},), "deletions", Answer.NO, "deletion: t."),
        ((small.state("t", 0, 1, [1]),), "whole", Answer.NO, "1 are under-replicated"),
        ((small.state("t", 0, -1, [1]),), "whole", Answer.NO, "1 are without a live leader"),
        (({"/migration": small.znode("{")},), "controller", Answer.UNKNOWN, "not to be had"),
        (
            ({"/kafka-acl/Topic/t": small.json_(version=1, acls=[])},),
            "authorizer",
            Answer.UNKNOWN,
            "1 resources have ACLs",
        ),
    ],
)
def test_each_condition_says_what_stands_in_the_way(
    trees: tuple[small.AnyTree, ...], condition: str, answer: Answer, words: str
) -> None:
    found = {one.id: one for one in kraft_readiness.conditions(_built(*trees))}[condition]
    assert found.answer is answer
    assert words in found.why


def test_a_move_that_the_brokers_api_began_counts() -> None:
    moving = small.assignment("t", {0: [2, 1]}, adding_replicas={"0": [2]}, removing_replicas={})
    answers = _answers(_built(BY_BROKER, moving))
    assert answers["idle"] is Answer.NO


def test_old_layouts_cannot_migrate() -> None:
    state = small.built({"/brokers/ids/1": small.znode("h-1:h:1")})
    found = {one.id: one for one in kraft_readiness.conditions(state)}["release"]
    assert (found.answer, found.why) == (Answer.NO, "The layout is 0.7.")


@pytest.mark.parametrize("name", recorded.TREES)
def test_no_recorded_cluster_was_being_migrated(name: str) -> None:
    state = small.built(recorded.load(name))
    if name != recorded.HOSTILE:
        assert kraft.stage(state) is Stage.ZOOKEEPER
    assert len(kraft_readiness.conditions(state)) == 11
