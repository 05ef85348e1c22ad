"""Every action, planned as the dashboard plans it, and carried out by the demo's simulated cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.conftest import Chroot
from tests.demo.kafka39.operating import Operator
from tests.demo.runtime.hearing import hear_all
from tests.narrowing import known
from zkdash.cluster.plans import goals, intents, proposals
from zkdash.cluster.plans.intents import OffsetAt, Reassign
from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.kafka39 import shop
from zkdash.demo.kafka39.definitions import BrokerConfig, ClusterDefinition, NewTopic
from zkdash.demo.kafka39.simulation import Simulation
from zkdash.kafka.values import Move

pytestmark = pytest.mark.zk

SHOP = ClusterDefinition(
    brokers=tuple(BrokerConfig(n, f"kafka-{n}.test", 9092, f"rack-{n % 2}") for n in (1, 2, 3, 4)),
    topics=(
        NewTopic("large", 8, 2, per_s=2000),  # some 4.5 GB a partition
        NewTopic("small", 4, 2, {"retention.ms": "60000"}, per_s=4),
    ),
    groups=(
        GroupConfig("periodic", (1,), ("small", "large"), periodic=True),
        GroupConfig("gone", (1,), ("small",), abandoned=True),
        GroupConfig("busy", (1,), ("small",)),
    ),
)
REASSIGNMENT = "/admin/reassign_partitions"


@pytest.fixture
def operator(chroot: Chroot) -> Iterator[Operator]:
    with Operator(chroot, SHOP) as made:
        yield made


def replicas(operator: Operator, topic: str) -> dict[int, tuple[int, ...]]:
    found = operator.cluster.json(f"/brokers/topics/{topic}")["partitions"]
    return {int(number): tuple(ids) for number, ids in found.items()}


def away_from(operator: Operator, broker: int, *topics: str) -> tuple[Move, ...]:
    """Every replica of a broker goes to one that has none of its partition."""
    moves = []
    for topic in topics:
        for number, ids in replicas(operator, topic).items():
            others = [b for b in (1, 2, 3, 4) if b not in ids]
            new = others[number % len(others)]
            if broker in ids:
                moves.append(Move(topic, number, tuple(new if b == broker else b for b in ids)))
    return tuple(moves)


def one_move(operator: Operator, topic: str, target: int | None = None) -> Move:
    """Partition 0 gets another last replica."""
    ids = replicas(operator, topic)[0]
    new = next(b for b in (1, 2, 3, 4) if b not in ids) if target is None else target
    return Move(topic, 0, (*ids[:-1], new))


def controller(operator: Operator) -> int:
    return int(operator.cluster.json("/controller")["brokerid"])


def pass_seconds(operator: Operator, seconds: int) -> None:
    hear_all(operator.cluster.simulation)
    for _ in range(seconds):
        operator.cluster.clock.advance(1.0)
        operator.cluster.simulation.loop.run(lambda: None)


# --- reassignment


def test_a_drained_broker_loses_its_replicas_one_after_the_other(operator: Operator) -> None:
    seen = operator.carry_out(Reassign(away_from(operator, 1, "large", "small")))
    assert len(seen) > 5
    assert len({progress.done for progress in seen}) > 4
    for topic in ("large", "small"):
        assert all(1 not in ids for ids in replicas(operator, topic).values())
        value = operator.cluster.json(f"/brokers/topics/{topic}")
        assert (value["adding_replicas"], value["removing_replicas"]) == ({}, {})
    states = operator.cluster.states()
    assert all(set(s["isr"]) <= set(replicas(operator, t)[p]) for (t, p), s in states.items())


def test_a_throttled_move_takes_as_long_as_its_rate_says(operator: Operator) -> None:
    move = one_move(operator, "large")
    logs = operator.cluster.simulation.logs
    rate = 200_000_000
    expected = logs.size("large", 0) / rate
    small = operator.carry_out(Reassign((one_move(operator, "small"),), throttle=rate))
    assert len(small) < expected / 2
    seen = operator.carry_out(Reassign((move,), throttle=rate), limit_s=200)
    moving = [progress for progress in seen if not progress.reached]
    assert expected * 0.9 < len(moving) < expected * 1.1 + 4
    assert operator.cluster.json("/config/topics/large")["config"] == {}
    assert operator.cluster.json("/config/brokers/1")["config"] == {}


def test_a_throttle_that_is_lifted_lets_a_move_run(operator: Operator) -> None:
    move = one_move(operator, "large")
    plan = operator.plan(Reassign((move,), throttle=1000))
    begun = next(step for step in plan.steps if isinstance(step.goal, goals.Assigned))
    for step in plan.steps[: plan.steps.index(begun) + 1]:
        operator.write(step)
    pass_seconds(operator, 30)
    assert not operator.progress(begun.goal).reached
    for step in plan.steps[plan.steps.index(begun) + 1 :]:
        operator.write(step)
    operator.wait(begun.goal, 30)


def test_a_move_to_a_broker_that_died_waits_and_goes_on_when_it_is_back(operator: Operator) -> None:
    move = one_move(operator, "large")
    (step,) = operator.plan(Reassign((move,))).steps
    operator.write(step)
    operator.cluster.wait(lambda: operator.cluster.json("/brokers/topics/large")["adding_replicas"])
    pass_seconds(operator, 2)
    operator.cluster.simulation.kill_broker(move.replicas[-1])
    pass_seconds(operator, 120)
    assert operator.progress(step.goal).done == 0
    operator.cluster.simulation.start_broker(move.replicas[-1])
    operator.wait(step.goal)


def test_a_move_that_waits_for_a_dead_broker_is_reverted(operator: Operator) -> None:
    before = replicas(operator, "large")
    move = one_move(operator, "large")
    (step,) = operator.plan(Reassign((move,))).steps
    operator.write(step)
    operator.cluster.wait(lambda: operator.cluster.json("/brokers/topics/large")["adding_replicas"])
    operator.cluster.simulation.kill_broker(move.replicas[-1])
    operator.cluster.wait(lambda: operator.cluster.exists("/controller"))
    operator.carry_out(intents.RevertStuck((Move("large", 0, before[0]),)))
    assert replicas(operator, "large") == before
    assert operator.cluster.json("/brokers/topics/large")["adding_replicas"] == {}


def test_deleting_the_znode_of_a_move_does_not_cancel_it(operator: Operator) -> None:
    move = one_move(operator, "large")
    (step,) = operator.plan(Reassign((move,))).steps
    operator.write(step)
    operator.cluster.wait(lambda: operator.cluster.json("/brokers/topics/large")["adding_replicas"])
    operator.cluster.client.delete(REASSIGNMENT)
    operator.wait(step.goal)
    assert replicas(operator, "large")[0] == move.replicas


def test_a_move_without_a_znode_is_superseded_by_another(operator: Operator) -> None:
    """As the brokers' own API starts one: here its znode is deleted, and a new controller goes on with it."""
    first = one_move(operator, "large")
    before = replicas(operator, "large")[0]
    (step,) = operator.plan(Reassign((first,))).steps
    operator.write(step)
    operator.cluster.wait(lambda: operator.cluster.json("/brokers/topics/large")["adding_replicas"])
    operator.cluster.client.delete(REASSIGNMENT)
    operator.carry_out(intents.ReelectController())
    assert operator.plan(Reassign((Move("large", 0, before),))).refusals
    operator.carry_out(Reassign((Move("large", 0, before),), supersede=True))
    assert replicas(operator, "large")[0] == before
    assert first.replicas[-1] not in operator.cluster.states()["large", 0]["isr"]


def test_a_request_that_jams_the_controller_is_cleared(operator: Operator) -> None:
    operator.cluster.client.create(REASSIGNMENT, b"{nope")
    operator.carry_out(intents.ClearStuck(REASSIGNMENT))
    assert not operator.cluster.exists(REASSIGNMENT)
    operator.carry_out(Reassign((one_move(operator, "small"),)))


# --- topics


def test_preferred_replicas_are_elected(operator: Operator) -> None:
    led = operator.cluster.states()["small", 0]["leader"]
    operator.cluster.simulation.kill_broker(led)
    operator.cluster.wait(lambda: operator.cluster.states()["small", 0]["leader"] != led)
    operator.cluster.simulation.start_broker(led)
    operator.cluster.pass_time(20, lambda: led in operator.cluster.states()["small", 0]["isr"])
    operator.carry_out(intents.ElectPreferred(("small",)))
    assert operator.cluster.states()["small", 0]["leader"] == led


def test_a_topic_is_created_grown_configured_and_deleted(operator: Operator) -> None:
    cluster = operator.cluster
    operator.carry_out(intents.CreateTopic("made", 3, 2, {"retention.ms": "1000"}))
    value = cluster.json("/brokers/topics/made")
    assert (value["version"], len(value["topic_id"])) == (3, 22)
    assert cluster.simulation.logs.end("made", 0) == 0
    operator.carry_out(intents.AddPartitions("made", 5))
    assert cluster.json("/brokers/topics/made")["topic_id"] == value["topic_id"]
    assert len(replicas(operator, "made")) == 5
    operator.carry_out(intents.ChangeConfig("made", {"cleanup.policy": "compact"}, ("retention.ms",)))
    assert cluster.json("/config/topics/made")["config"] == {"cleanup.policy": "compact"}
    seen = operator.carry_out(intents.DeleteTopic("made"))
    assert 1 < len(seen) < 6
    assert not cluster.exists("/config/topics/made")


def test_a_topic_that_was_deleted_and_made_anew_is_empty(operator: Operator) -> None:
    logs = operator.cluster.simulation.logs
    assert logs.end("large", 0) > 0
    operator.carry_out(intents.DeleteTopic("large"))
    seconds = len(operator.carry_out(intents.CreateTopic("large", 1, 1)))
    # It may have grown since it is there, and a second may have passed beside those that were waited for.
    assert 0 in {logs.end("large", 0, ago_s=ago) for ago in range(seconds, seconds + 4)}


def test_a_deletion_waits_for_a_dead_broker_and_for_a_move(operator: Operator) -> None:
    dead = next(b for b in replicas(operator, "small")[0] if b != controller(operator))
    operator.cluster.simulation.kill_broker(dead)
    (step,) = operator.plan(intents.DeleteTopic("small")).steps
    operator.write(step)
    pass_seconds(operator, 60)
    assert not operator.progress(step.goal).reached
    operator.cluster.simulation.start_broker(dead)
    operator.wait(step.goal)

    (move,) = operator.plan(Reassign((one_move(operator, "large"),))).steps
    operator.write(move)
    operator.cluster.wait(lambda: operator.cluster.json("/brokers/topics/large")["adding_replicas"])
    (deletion,) = operator.plan(intents.DeleteTopic("large")).steps
    operator.write(deletion)
    pass_seconds(operator, 3)
    assert not operator.progress(deletion.goal).reached
    operator.wait(deletion.goal)


def test_what_is_left_of_a_deletion_that_is_stuck_is_cleaned_up(operator: Operator) -> None:
    dead = next(b for b in replicas(operator, "small")[0] if b != controller(operator))
    operator.cluster.simulation.kill_broker(dead)
    operator.cluster.simulation.leave("busy-0")
    (step,) = operator.plan(intents.DeleteTopic("small")).steps
    operator.write(step)
    operator.carry_out(intents.CleanUpTopic("small", folders_removed=True))
    assert "small" not in operator.state().topics
    pass_seconds(operator, 5)
    assert not operator.cluster.exists("/brokers/topics/small")


def test_a_configuration_of_an_absent_topic_is_cleared(operator: Operator) -> None:
    operator.cluster.client.create("/config/topics/left", b'{"version":1,"config":{"retention.ms":"1"}}')
    operator.carry_out(intents.ClearConfigs())
    assert not operator.cluster.exists("/config/topics/left")


def test_throttles_that_were_left_are_cleared(operator: Operator) -> None:
    plan = operator.plan(Reassign((one_move(operator, "small"),), throttle=1_000_000))
    for step in plan.steps:
        if isinstance(step.goal, goals.Assigned):
            operator.write(step)
            operator.wait(step.goal)
            break
        operator.write(step)
    operator.carry_out(intents.ClearThrottles())
    assert (
        "follower.replication.throttled.replicas"
        not in operator.cluster.json("/config/topics/small")["config"]
    )


def test_a_topic_whose_id_was_dropped_gets_another_from_the_next_controller(operator: Operator) -> None:
    path = "/brokers/topics/small"
    value = operator.cluster.json(path)
    dropped = {"version": 1, "partitions": {**value["partitions"], "4": [1, 2]}}
    operator.cluster.client.set(path, json.dumps(dropped).encode())
    operator.cluster.wait(lambda: ("small", 4) in operator.cluster.states())
    assert "topic_id" not in operator.cluster.json(path)
    operator.carry_out(intents.ReelectController())
    operator.cluster.wait(lambda: "topic_id" in operator.cluster.json(path), "the new controller gives ids")
    assert operator.cluster.json(path)["topic_id"] not in (value["topic_id"], "")


# --- groups


def test_a_group_that_is_away_is_deleted_and_one_that_is_not_is_left_alone(operator: Operator) -> None:
    operator.carry_out(intents.DeleteGroup("gone"))
    assert not operator.cluster.exists("/consumers/gone")
    assert operator.plan(intents.DeleteGroup("busy")).refusals
    operator.carry_out(intents.DeleteGroup("periodic", "small"))
    assert operator.cluster.client.get_children("/consumers/periodic/offsets") == ["large"]


def test_a_group_goes_on_from_where_it_was_reset_to_when_it_comes_back(operator: Operator) -> None:
    logs = operator.cluster.simulation.logs
    path = "/consumers/periodic/offsets/large/0"
    start, at = logs.start("large", 0), int(operator.cluster.client.get(path)[0])
    assert start < at
    operator.carry_out(intents.ResetOffsets("periodic", (OffsetAt("large", "0", start),)))
    operator.cluster.simulation.join("periodic-0")
    seen = []
    for _ in range(4):
        pass_seconds(operator, 5)
        seen.append(int(operator.cluster.client.get(path)[0]))
    assert start < seen[0] < seen[1] < seen[2] < seen[3] < at
    operator.cluster.pass_time(300, lambda: int(operator.cluster.client.get(path)[0]) > at)


def test_a_group_that_was_deleted_makes_itself_anew_when_it_comes_back(operator: Operator) -> None:
    operator.carry_out(intents.DeleteGroup("periodic"))
    operator.cluster.simulation.join("periodic-0")
    operator.cluster.pass_time(20, lambda: operator.cluster.exists("/consumers/periodic/offsets/large/0"))


# --- and nothing undoes it


def test_a_new_topic_is_not_put_on_a_broker_that_was_drained(operator: Operator) -> None:
    operator.carry_out(Reassign(away_from(operator, 1, "large", "small")))
    simulation: Simulation = operator.cluster.simulation
    simulation.create_topic(NewTopic("adhoc", 12, 2))
    operator.cluster.wait(lambda: ("adhoc", 11) in operator.cluster.states())
    assert all(1 not in ids for ids in replicas(operator, "adhoc").values())


def test_a_controller_is_elected_anew(operator: Operator) -> None:
    epoch = int(operator.cluster.client.get("/controller_epoch")[0])
    operator.carry_out(intents.ReelectController())
    assert int(operator.cluster.client.get("/controller_epoch")[0]) == epoch + 1


def test_draining_a_broker_of_the_demo_takes_about_half_a_minute(chroot: Chroot) -> None:
    with Operator(chroot, shop.SHOP) as operator:
        moves = proposals.drain(operator.state(), [4]).moves
        seen = operator.carry_out(Reassign(moves), limit_s=120)
        assert 20 <= len(seen) <= 60
        halfway = seen[len(seen) // 2]
        assert halfway.total * 0.3 < halfway.done < halfway.total
        left = operator.state().topics.values()
        assert not any(4 in known(one.replicas) for topic in left for one in topic.partitions)
