"""How each partition of a reassignment stands, and why one does not get on."""

from __future__ import annotations

import pytest

from tests.web import states
from zkdash.cluster.plans.goals import Assigned
from zkdash.cluster.plans.move_progress import Stage, Watched, watch
from zkdash.kafka.values import Move


def asked(*moves: Move) -> states.Tree:
    """A cluster in which these moves stand in /admin/reassign_partitions."""
    entries = [
        {"topic": move.topic, "partition": move.partition, "replicas": list(move.replicas)} for move in moves
    ]
    trigger = states.znode({"version": 1, "partitions": entries})
    return states.healthy() | {"/admin/reassign_partitions": trigger}


MOVE = Move("payments", 0, (1, 3))


def only(tree: states.Tree, move: Move = MOVE) -> Watched:
    (found,) = watch(Assigned((move,)), states.load(tree))
    return found


def test_a_move_under_way_names_who_is_not_in_sync_yet() -> None:
    found = only(asked(MOVE))
    assert (found.stage, found.in_sync, found.missing) == (Stage.MOVING, (1,), (3,))
    assert found.why == "broker 3 not in sync yet"


def test_when_all_are_in_sync_the_old_ones_are_dropped_next() -> None:
    tree = asked(MOVE) | {"/brokers/topics/payments/partitions/0/state": states.state(1, [1, 2, 3])}
    assert only(tree).why == "all replicas are in sync; the controller drops the old ones next"


def test_a_move_that_has_ended_where_it_should_is_done() -> None:
    assert only(states.healthy() | states.topic("payments", {0: [1, 3]})).stage is Stage.DONE


@pytest.mark.parametrize(
    ("gone", "why"),
    [
        (["/brokers/ids/3"], "broker 3 is not registered, so it copies nothing"),
        (["/controller"], "no controller is there to carry it out"),
    ],
)
def test_what_hinders_a_move_is_said(gone: list[str], why: str) -> None:
    tree = {path: read for path, read in asked(MOVE).items() if path not in gone}
    found = only(tree)
    assert (found.stage, found.why) == (Stage.STUCK, why)


def test_a_partition_without_a_leader_has_nobody_to_copy_from() -> None:
    tree = asked(MOVE) | {"/brokers/topics/payments/partitions/0/state": states.state(-1, [2])}
    assert only(tree).why == "it has no leader to copy from"


def test_a_move_that_somebody_took_away_is_lost() -> None:
    assert only(states.healthy()).stage is Stage.LOST
    assert only(states.healthy(), Move("absent", 0, (1,))).why == "the topic is gone"


def test_those_that_need_a_look_stand_first() -> None:
    tree = asked(Move("orders", 0, (3, 1)), Move("clicks", 0, (2, 1)))
    del tree["/brokers/ids/2"]
    goal = Assigned((Move("orders", 0, (3, 1)), Move("clicks", 0, (2, 1)), Move("orders", 1, (2, 3, 1))))
    found = watch(goal, states.load(tree))
    assert [one.stage for one in found] == [Stage.STUCK, Stage.MOVING, Stage.DONE]
