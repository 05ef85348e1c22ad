"""Groups of real ZooKeeper consumers: their offsets reset, what they keep deleted."""

from __future__ import annotations

from tests.kafka_live.scenes import Play, scene
from tests.kafka_live.stage import Stage
from tests.lab import tools
from tests.lab.old_consumers import OldConsumers
from tests.waiting import wait_for
from zkdash.cluster.plans import intents
from zkdash.cluster.plans.intents import OffsetAt

MESSAGES, READ = 10, 6


@scene("reset offsets")
def reset(stage: Stage) -> Play:
    """The group's next consumer goes on from there."""
    topic, group = _consumed(stage, "reset")
    yield
    stage.act(intents.ResetOffsets(group, (OffsetAt(topic, "0", 3),)))
    yield
    assert _offset(stage, group, topic) == 3
    assert "message 3" in tools.consume(stage.old, tools.OLD, group, topic, 1, first=False).splitlines()
    assert _offset(stage, group, topic) == 4


@scene("reset offsets of a live group")
def reset_live(stage: Stage) -> Play:
    topic, group = _consumed(stage, "live-group")
    yield
    with OldConsumers(stage.old.release.version, stage.folder / "consumers") as consumers:
        consumers.join("one", stage.first.zookeeper, group, {topic: 1})
        stage.act(intents.ResetOffsets(group, (OffsetAt(topic, "0", 3),)))


@scene("delete group")
def delete(stage: Stage) -> Play:
    topic, group = _consumed(stage, "deleted-group")
    yield
    plan = stage.act(intents.DeleteGroup(group))
    assert plan.inverse == intents.ResetOffsets(group, (OffsetAt(topic, "0", READ),))
    yield
    assert not stage.exists(f"/consumers/{group}")
    if stage.old.release.has_listeners:
        assert group not in tools.list_old_groups(stage.old)


@scene("delete a group's topic")
def delete_topic(stage: Stage) -> Play:
    topic, group = _consumed(stage, "partly")
    other = stage.topic("partly-kept", [[1, 2]], messages=2)
    yield
    stage.act(intents.ResetOffsets(group, (OffsetAt(other, "0", 1),)))
    stage.act(intents.DeleteGroup(group, topic))
    yield
    assert not stage.exists(f"/consumers/{group}/offsets/{topic}")
    assert stage.json(f"/consumers/{group}/offsets/{other}/0") == 1
    if stage.old.release.has_listeners:
        assert group in tools.list_old_groups(stage.old)


def _consumed(stage: Stage, name: str) -> tuple[str, str]:
    """A topic, and a group that has read some of it with a real old consumer and left."""
    topic = stage.topic(f"{name}-read", [[1, 2]], messages=MESSAGES)
    tools.consume(stage.old, tools.OLD, name, topic, READ)
    return topic, name


def _offset(stage: Stage, group: str, topic: str) -> int | None:
    """What Kafka's own tool says where the group stands.

    It asks the group's coordinator first, and says "unknown" where no broker answers for that, as while a
    controller is elected: it is asked until it says.
    """

    def ask() -> tools.Standing | None:
        if stage.old.release.has_listeners:
            standing = tools.describe_group(stage.old, tools.OLD, group, topic)[0]
        else:
            standing = tools.check_offsets(stage.old, group, topic)[0]
        return None if standing.offset is None else standing

    return wait_for(ask, message=f"what the tool says of {group}").offset
