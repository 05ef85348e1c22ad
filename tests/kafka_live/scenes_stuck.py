"""What a controller gets stuck on, with no broker to blame and with one that is really dead."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.kafka_live.scenes import DEAD, Play, scene
from tests.kafka_live.scenes_moves import asked
from tests.kafka_live.scenes_topics import prefer_another
from tests.kafka_live.stage import LIMIT_S, Stage
from tests.waiting import wait_for
from zkdash.cluster.plans import intents
from zkdash.kafka import paths
from zkdash.kafka.values import Move


@scene("clear an empty reassignment")
def clear_empty(stage: Stage) -> Play:
    """The next move must be carried out, which from 1.1 on needs a new controller."""
    name = stage.topic("after-empty", [[1, 2]], messages=1)
    yield
    stage.write(paths.REASSIGNMENT, {"version": 1, "partitions": []})
    stage.act(intents.ClearStuck(paths.REASSIGNMENT))
    stage.act(intents.Reassign((Move(name, 0, (3, 1)),)))
    yield
    assert stage.told(name) == {0: (3, 1)}


@scene("clear an election that is no JSON")
def clear_unreadable(stage: Stage) -> Play:
    yield from _clear_election(stage, "after-no-json", b"{")


@scene("clear an election of an unknown topic")
def clear_unknown(stage: Stage) -> Play:
    unknown = {"version": 1, "partitions": [{"topic": "x", "partition": 0}]}
    yield from _clear_election(stage, "after-unknown", unknown)


def _clear_election(stage: Stage, name: str, document: object) -> Play:
    """The next election must be carried out; a controller that the plan says must be restarted is so.

    The move shows that a controller is at work: one that takes office with such a znode there fails for ever.
    """
    stage.topic(name, [[1, 2]])
    yield
    preferred = prefer_another(stage, name)
    controller = stage.controller()
    stage.write(paths.ELECTION, document)
    plan = stage.act(intents.ClearStuck(paths.ELECTION))
    if document != b"{" and stage.release.version.startswith("0."):
        assert f"broker {controller.id} (the controller)" in plan.warnings[0]
        stage.restart(controller)
        preferred = prefer_another(stage, name)
    stage.act(intents.ElectPreferred((name,)))
    stage.led_by(name, preferred)


@scene("reassign to a broker that died", DEAD)
def to_dead(stage: Stage) -> Play:
    name = stage.topic("to-dead", [[1, 2]])
    yield
    stage.act(intents.Reassign((Move(name, 0, (3, 2)),)))


@scene("revert a stuck move", DEAD)
def revert(stage: Stage) -> Play:
    name = stage.topic("stuck", [[1, 2]], messages=1)
    yield
    _stuck(stage, name)
    try:
        stage.act(intents.RevertStuck())
    finally:
        if stage.exists(paths.REASSIGNMENT):
            stage.act(intents.RevertStuck((Move(name, 0, (1, 2)),)))
    yield
    assert sorted(stage.told(name)[0]) == [1, 2]
    assert stage.messages(name) == 1


@scene("revert a stuck move to named replicas", DEAD)
def revert_named(stage: Stage) -> Play:
    """And the next move is carried out."""
    name = stage.topic("stuck-named", [[2, 1]], messages=1)
    yield
    _stuck(stage, name)
    stage.act(intents.RevertStuck((Move(name, 0, (2, 1)),)))
    assert stage.replicas(name) == [2, 1]
    stage.act(intents.Reassign((Move(name, 0, (1, 2)),)))
    yield
    assert stage.told(name) == {0: (1, 2)}
    assert stage.messages(name) == 1


def _stuck(stage: Stage, topic: str) -> None:
    """A move that the controller has taken up and that waits for the dead broker."""
    stage.write(paths.REASSIGNMENT, asked(topic, 0, (3, 1)))
    wait_for(lambda: 3 in stage.replicas(topic), LIMIT_S)


@scene("clean up after a stuck deletion", DEAD)
def clean_up(stage: Stage) -> Play:
    name = stage.topic("stuck-deletion", [[3, 1], [1, 3]], messages=1)
    yield
    begun = stage.begin(intents.DeleteTopic(name))
    wait_for(lambda: stage.exists(paths.deletion(name)), LIMIT_S)
    wait_for(lambda: not _folders(stage, name, live=True), LIMIT_S, lambda: _folders(stage, name, live=True))
    stage.stop(begun)
    assert stage.exists(paths.deletion(name))
    for folder in _folders(stage, name, live=False):
        shutil.rmtree(folder)
    stage.act(intents.CleanUpTopic(name, folders_removed=True))
    yield
    assert name not in stage.survey.topics
    assert not stage.exists(f"/brokers/topics/{name}")
    assert not stage.exists(f"/config/topics/{name}")
    assert not stage.exists(paths.deletion(name))
    assert not _folders(stage, name, live=True)


def _folders(stage: Stage, topic: str, *, live: bool) -> list[Path]:
    """The folders of a topic on the live brokers, or on the dead one; renamed ones are as good as gone."""
    brokers = [broker for broker in stage.brokers if broker.alive is live]
    found = [path for broker in brokers for path in (broker.data_dir / "logs").glob(f"{topic}-*")]
    return [path for path in found if not (live and path.name.endswith("-delete"))]


@scene("delete a topic of a dead broker", DEAD)
def delete_later(stage: Stage) -> Play:
    """It goes once the broker is back."""
    name = stage.topic("deleted-later", [[3, 1]], messages=1)
    yield
    begun = stage.begin(intents.DeleteTopic(name))
    assert any("until these brokers" in warning and "3" in warning for warning in begun.plan.warnings)
    wait_for(lambda: stage.exists(paths.deletion(name)), LIMIT_S)
    yield
    stage.finish(begun)
    assert not stage.exists(f"/brokers/topics/{name}")
