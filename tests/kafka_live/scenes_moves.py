"""Replicas moved: at once, in batches, throttled, back again; and what must be refused."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.kafka_live.scenes import Play, scene
from tests.kafka_live.stage import LIMIT_S, Stage
from tests.lab import admin
from tests.waiting import wait_for
from zkdash.cluster.plans import intents
from zkdash.kafka import paths
from zkdash.kafka.assignment import regeneration
from zkdash.kafka.values import Move

# 40 messages of 5 kB, at 25 kB a second and with a burst of two or three: long enough for a tool to look.
MESSAGES, SIZE, RATE, TAKES_S = 40, 5000, 25_000, 2.0
# At a byte a second a fetch still passes every two seconds: a move of these takes a minute.
MANY_MESSAGES = 10 * MESSAGES


@scene("reassign")
def reassign(stage: Stage) -> Play:
    name = stage.topic("moved", [[1, 2], [2, 1]], messages=50)
    yield
    stage.act(intents.Reassign((Move(name, 0, (3, 2)), Move(name, 1, (3, 1)))))
    yield
    assert stage.told(name) == {0: (3, 2), 1: (3, 1)}
    assert stage.messages(name) == 50
    assert admin.verify(stage.first, {(name, 0): (3, 2), (name, 1): (3, 1)})


@scene("undo a reassignment")
def undo(stage: Stage) -> Play:
    name = stage.topic("undone", [[1, 2]], messages=5)
    yield
    plan = stage.act(intents.Reassign((Move(name, 0, (2, 3)),)))
    assert stage.replicas(name) == [2, 3]
    assert plan.inverse
    stage.act(plan.inverse)
    yield
    assert stage.told(name) == {0: (1, 2)}
    assert stage.messages(name) == 5


@scene("reassign to more replicas, then fewer")
def resize(stage: Stage) -> Play:
    name = stage.topic("resized", [[1], [2]], messages=5)
    yield
    stage.act(intents.Reassign((Move(name, 0, (1, 2, 3)), Move(name, 1, (2, 3, 1)))))
    stage.act(intents.Reassign((Move(name, 1, (3, 1)),)))
    yield
    assert stage.told(name) == {0: (1, 2, 3), 1: (3, 1)}
    assert stage.messages(name) == 5


@scene("reassign two at a time")
def batches(stage: Stage) -> Play:
    name = stage.topic("batched", [[1, 2]] * 5, messages=20)
    yield
    at_once: list[int] = []

    def look(data: bytes | None, _: object) -> bool:
        at_once.append(data.count(b'"partition"') if data else 0)
        return len(at_once) < 100

    stage.client.DataWatch(paths.REASSIGNMENT, look)

    plan = stage.act(intents.Reassign(tuple(Move(name, n, (3, 2)) for n in range(5)), concurrent=2))
    assert len(plan.steps) == 3
    assert max(at_once) in {1, 2}
    yield
    assert stage.told(name) == dict.fromkeys(range(5), (3, 2))
    assert stage.messages(name) == 20


@scene("reassign with a throttle")
def throttle(stage: Stage) -> Play:
    """The rates stand while replicas are copied, which takes its time, and are gone afterwards."""
    name = stage.topic("throttled", [[1, 2]], messages=MESSAGES, size=SIZE)
    yield
    admin.describe_config(stage.first, "brokers")  # whose classes are loaded before the move begins
    begun = stage.begin(intents.Reassign((Move(name, 0, (3, 2)),), throttle=RATE))
    wait_for(lambda: stage.exists(paths.REASSIGNMENT), LIMIT_S)
    began = time.monotonic()
    config = stage.json(f"/config/topics/{name}")["config"]
    rates = admin.describe_config(stage.first, "brokers")
    stage.gone(paths.REASSIGNMENT)
    took = time.monotonic() - began
    stage.finish(begun)
    assert rates.count(f"leader.replication.throttled.rate={RATE}") >= 3
    assert rates.count(f"follower.replication.throttled.rate={RATE}") >= 3
    assert config == {
        "leader.replication.throttled.replicas": "0:1,0:2",
        "follower.replication.throttled.replicas": "0:3",
    }
    assert took > TAKES_S
    yield
    assert stage.told(name) == {0: (3, 2)}
    assert stage.json(f"/config/topics/{name}")["config"] == {}
    assert "throttled" not in admin.describe_config(stage.first, "brokers")
    assert stage.messages(name) == MESSAGES


@scene("supersede a move that the API started")
def supersede(stage: Stage) -> Play:
    """Kafka's own tool starts a move that is far from its end; its throttle is left behind."""
    name = stage.topic("superseded", [[1, 2]], messages=MANY_MESSAGES, size=SIZE)
    yield
    admin.execute(stage.first, {(name, 0): (3, 2)}, throttle=1)
    wait_for(lambda: stage.json(f"/brokers/topics/{name}").get("adding_replicas"), LIMIT_S)
    stage.act(intents.Reassign((Move(name, 0, (1, 2)),), supersede=True))
    yield
    assert stage.told(name) == {0: (1, 2)}
    assert stage.messages(name) == MANY_MESSAGES


@scene("reassign what the API moves already")
def moving(stage: Stage) -> Play:
    name = stage.topic("moving", [[1, 2]], messages=MANY_MESSAGES, size=SIZE)
    yield
    admin.execute(stage.first, {(name, 0): (3, 2)}, throttle=1)
    wait_for(lambda: stage.json(f"/brokers/topics/{name}").get("adding_replicas"), LIMIT_S)
    try:
        stage.act(intents.Reassign((Move(name, 0, (2, 1)),)))
    finally:
        stage.act(intents.Reassign((Move(name, 0, (1, 2)),), supersede=True))


@scene("clear throttles")
def clear_throttles(stage: Stage) -> Play:
    """Of a move of Kafka's own tool, which leaves them behind until somebody verifies."""
    name = stage.topic("left", [[1, 2]], messages=1)
    yield
    if stage.release.registration >= 4:
        admin.execute(stage.first, {(name, 0): (3, 2)}, throttle=10_000_000)
        wait_for(lambda: stage.replicas(name) == [3, 2] and not stage.exists(paths.REASSIGNMENT), LIMIT_S)
        assert "throttled" in admin.describe_config(stage.first, "brokers")
    stage.act(intents.ClearThrottles())
    assert stage.json(f"/config/topics/{name}")["config"] == {}
    yield
    assert "throttled" not in admin.describe_config(stage.first, "brokers")
    assert stage.told(name) == {0: (3, 2)}


@scene("reassign to a dead broker")
def to_unregistered(stage: Stage) -> Play:
    name = stage.topic("to-nowhere", [[1, 2]])
    yield
    stage.act(intents.Reassign((Move(name, 0, (9, 2)),)))


@scene("reassign an unknown topic")
def unknown_topic(stage: Stage) -> Play:
    yield
    stage.act(intents.Reassign((Move("x", 0, (1,)),)))


@scene("reassign an unknown partition")
def unknown_partition(stage: Stage) -> Play:
    name = stage.topic("short", [[1, 2]])
    yield
    stage.act(intents.Reassign((Move(name, 7, (1, 2)),)))


@scene("reassign nothing")
def nothing(stage: Stage) -> Play:
    yield
    stage.act(intents.Reassign(()))


@scene("reassign to the same replicas")
def same(stage: Stage) -> Play:
    name = stage.topic("same", [[1, 2]])
    yield
    stage.act(intents.Reassign((Move(name, 0, (1, 2)),)))


@scene("reassign while another runs")
def another(stage: Stage) -> Play:
    """The controller is frozen, so that the other one waits; then it is carried out, untouched."""
    name = stage.topic("other", [[1, 2], [1, 2]])
    yield
    try:
        with stage.unheard(paths.REASSIGNMENT, asked(name, 0, (2, 1))):
            stage.act(intents.Reassign((Move(name, 1, (2, 1)),)))
    finally:
        assert (stage.replicas(name, 0), stage.replicas(name, 1)) == ([2, 1], [1, 2])


@scene("clear a live reassignment")
def clear_live(stage: Stage) -> Play:
    name = stage.topic("live", [[1, 2]])
    yield
    try:
        with stage.unheard(paths.REASSIGNMENT, asked(name, 0, (2, 1))):
            stage.act(intents.ClearStuck(paths.REASSIGNMENT))
    finally:
        assert stage.replicas(name) == [2, 1]


def asked(topic: str, partition: int, replicas: tuple[int, ...]) -> dict[str, object]:
    """A move as a hand or a tool before 3.0 asks for it."""
    entry = {"topic": topic, "partition": partition, "replicas": list(replicas)}
    return {"version": 1, "partitions": [entry]}


@scene("propose as Kafka's generator, blind to racks")
def generate_blind(stage: Stage) -> Play:
    yield from _generate(stage, "generated-blind", in_racks=False)


@scene("propose as Kafka's generator, over racks")
def generate_in_racks(stage: Stage) -> Play:
    yield from _generate(stage, "generated-racks", in_racks=True)


def _always(start: int, shift: int) -> Callable[[str], tuple[int, int]]:
    return lambda _: (start, shift)


def _generate(stage: Stage, name: str, *, in_racks: bool) -> Play:
    """What the tool drew by lot is not told; one draw must give its whole proposal."""
    names = [stage.topic(f"{name}-{factor}", [list(range(1, factor + 1))] * 7) for factor in (2, 3)]
    yield
    yield
    brokers = [broker.id for broker in stage.brokers]
    racks = {1: "b", 2: "a", 3: "b"} if in_racks else {}
    proposed = admin.generate(stage.first, names, brokers, in_racks=in_racks)
    for topic in names:
        now = {topic: stage.told(topic)}
        ours = [
            regeneration.regenerate(now, tuple(brokers), racks, _always(start, shift))[topic]
            for start in range(len(brokers))
            for shift in range(len(brokers))
        ]
        assert proposed[topic] in ours
