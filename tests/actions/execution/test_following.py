"""How far a goal is, how fast it comes, when it is given up, and why nothing moves."""

from __future__ import annotations

from tests.cluster.plans import worlds
from tests.cluster.plans.cells import MOVE, REASSIGN, _asked
from zkdash.actions.execution.following import Follower
from zkdash.cluster.plans.goals import Assigned, Led
from zkdash.kafka.values import Move

BOTH = Assigned((MOVE, Move("t", 1, (4, 3, 1))))


def test_rate_and_rest_follow_from_what_came_since_the_step_was_applied() -> None:
    tree = worlds.world("1.1.1")
    tree.put(REASSIGN, _asked(BOTH.moves))
    follower = Follower(BOTH, 100.0)
    first = follower.take(tree.state(), 100.0)
    assert (first.done, first.total, first.is_reached) == (0, 2, False)
    assert first.detail.partitions == (("t", 0, "moves"), ("t", 1, "moves"))
    assert first.detail.rate is None
    tree._move("t", {"0": list(MOVE.replicas)})
    tree.put(REASSIGN, _asked(BOTH.moves[1:]))
    second = follower.take(tree.state(), 110.0)
    assert (second.done, second.detail.rate, second.detail.left_s) == (1, 0.1, 10)
    assert second.detail.partitions == (("t", 1, "moves"),)
    tree.settle()
    assert follower.take(tree.state(), 120.0).is_reached


def test_a_failure_is_believed_when_it_was_seen_twice() -> None:
    tree = worlds.world("1.1.1")
    follower = Follower(Assigned((MOVE,)), 0.0)
    assert follower.take(tree.state(), 0.0).failure == ""
    assert follower.take(tree.state(), 0.4).failure == ""
    assert "t-0 no longer moves" in follower.take(tree.state(), 0.6).failure


def test_what_is_stuck_is_told_with_its_reason() -> None:
    tree = worlds.world("1.1.1")
    tree.put(REASSIGN, _asked([MOVE]))
    follower = Follower(Assigned((MOVE,)), 0.0)
    assert follower.take(tree.state(), 29.0).stuck == ""
    assert follower.take(tree.state(), 31.0).stuck == "nothing in ZooKeeper tells why"
    del tree.znodes["/brokers/ids/4"]
    assert follower.take(tree.state(), 32.0).stuck == "broker 4, a target, is not registered"
    del tree.znodes["/controller"]
    assert follower.take(tree.state(), 33.0).stuck == "there is no controller"


def test_partitions_without_a_leader_are_named() -> None:
    tree = worlds.world("1.1.1")
    report = Follower(Led("t", (0, 1, 2)), 0.0).take(tree.state(), 0.0)
    assert (report.done, report.total) == (2, 3)
    assert report.detail.partitions == (("t", 2, "has no leader"),)
