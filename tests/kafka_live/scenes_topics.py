"""Topics: made, grown, configured, deleted; leaders and controllers elected."""

from __future__ import annotations

from tests.kafka_live.scenes import Play, scene
from tests.kafka_live.stage import LIMIT_S, Stage
from tests.lab import tools
from tests.narrowing import known
from tests.waiting import wait_for
from zkdash.cluster.plans import intents
from zkdash.kafka import paths
from zkdash.kafka.values import Move

LARGEST = {"max.message.bytes": "2000"}


@scene("create topic")
def create_topic(stage: Stage) -> Play:
    yield
    stage.act(intents.CreateTopic("made", 4, 2, {"retention.ms": "600000"}))
    yield
    assert sorted(stage.told("made")) == [0, 1, 2, 3]
    tools.produce(stage.first, "made", 3)
    assert stage.messages("made") == 3


@scene("add partitions")
def add_partitions(stage: Stage) -> Play:
    """The topic's id must outlive the change and the controllers elected after it ("re-elect" acts later)."""
    name = stage.topic("grown", [[1, 2], [2, 3]])
    identity = _identity(stage, name)
    yield
    stage.act(intents.AddPartitions(name, 5))
    epoch = int(stage.client.get(paths.CONTROLLER_EPOCH)[0])
    _replace_controller(stage)
    yield
    assert stage.survey.controller_epoch > epoch
    assert sorted(stage.told(name)) == [0, 1, 2, 3, 4]
    assert _identity(stage, name) == identity
    tools.produce(stage.first, name, 20)
    assert stage.messages(name) == 20


def _identity(stage: Stage, topic: str) -> str | None:
    """The topic's id, which a controller from 2.8 on has given to it."""
    if stage.release.registration < 5:
        return None
    found: str = wait_for(lambda: stage.json(f"/brokers/topics/{topic}").get("topic_id"), LIMIT_S)
    return found


@scene("change config")
def change_config(stage: Stage) -> Play:
    """A large message is taken before, and none after: the brokers heard of the change."""
    name = stage.topic("configured", [[1, 2]], messages=1, size=5000)
    yield
    stage.act(intents.ChangeConfig(name, LARGEST))
    yield
    assert stage.messages(name) == 1
    tools.produce(stage.first, name, 1, size=5000)
    tools.produce(stage.first, name, 1, size=100)
    assert stage.messages(name) == 2


@scene("change config back")
def change_config_back(stage: Stage) -> Play:
    name = stage.topic("configured-back", [[1, 2]])
    yield
    plan = stage.act(intents.ChangeConfig(name, LARGEST))
    assert plan.inverse
    stage.act(plan.inverse)
    yield
    assert stage.json(f"/config/topics/{name}")["config"] == {}
    tools.produce(stage.first, name, 1, size=5000)
    assert stage.messages(name) == 1


@scene("delete topic")
def delete_topic(stage: Stage) -> Play:
    name = stage.topic("deleted", [[1, 2], [2, 3]], messages=2)
    yield
    stage.act(intents.DeleteTopic(name))
    yield
    assert name not in stage.survey.topics
    assert not stage.exists(f"/config/topics/{name}")


@scene("delete an unknown topic")
def delete_unknown(stage: Stage) -> Play:
    yield
    stage.act(intents.DeleteTopic("x"))


@scene("elect preferred")
def elect(stage: Stage) -> Play:
    name = stage.topic("elected", [[1, 2], [2, 1]])
    yield
    preferred = prefer_another(stage, name)
    stage.act(intents.ElectPreferred(topics=(name,)))
    stage.led_by(name, preferred)


def prefer_another(stage: Stage, topic: str) -> int:
    """Let the other of two replicas be preferred, by changing their order: the leader stays where it is."""
    leader = known(stage.leader(topic, 0))
    (other,) = set(stage.replicas(topic)) - {leader}
    if stage.replicas(topic) != [other, leader]:
        stage.act(intents.Reassign((Move(topic, 0, (other, leader)),)))
    assert stage.leader(topic, 0) == leader
    return other


@scene("elect an unknown topic")
def elect_unknown(stage: Stage) -> Play:
    yield
    stage.act(intents.ElectPreferred(topics=("x",)))


@scene("elect while one is asked for")
def elect_twice(stage: Stage) -> Play:
    name = stage.topic("elected-twice", [[1, 2]])
    yield
    entries = [{"topic": name, "partition": 0}]
    with stage.unheard(paths.ELECTION, {"version": 1, "partitions": entries}):
        stage.act(intents.ElectPreferred())


@scene("re-elect the controller")
def reelect(stage: Stage) -> Play:
    name = stage.topic("led", [[1, 2, 3]], messages=1)
    yield
    epoch = int(stage.client.get(paths.CONTROLLER_EPOCH)[0])
    _replace_controller(stage)
    assert int(stage.client.get(paths.CONTROLLER_EPOCH)[0]) > epoch
    yield
    assert stage.told(name) == {0: (1, 2, 3)}
    tools.produce(stage.first, name, 1)
    assert stage.messages(name) == 2


def _replace_controller(stage: Stage) -> None:
    """Elect another, and do what the plan says must be done with the one that was."""
    controller = stage.controller()
    plan = stage.act(intents.ReelectController())
    warned = any(f"restart broker {controller.id} " in warning for warning in plan.warnings)
    assert warned is (stage.release.registration == 1)
    if warned and stage.controller() is not controller:
        stage.restart(controller)


@scene("clear configs of absent topics")
def clear_configs(stage: Stage) -> Play:
    stage.write("/config/topics/left-behind", {"version": 1, "config": {"retention.ms": "1"}})
    yield
    stage.act(intents.ClearConfigs(("left-behind",)))
    assert not stage.exists("/config/topics/left-behind")
    yield
    assert "left-behind" not in stage.survey.topics
