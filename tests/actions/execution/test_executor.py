"""Actions from claim to end, on a real ZooKeeper and a real database."""

from __future__ import annotations

import json

import pytest

from tests.actions.carrying import ANN, ended, now, queued, told, working
from tests.actions.small import operator
from tests.cluster.plans import worlds
from tests.conftest import Chroot
from tests.faults import cluster
from tests.faults.controller import ELECTION, REASSIGNMENT, Controller
from tests.narrowing import known
from tests.waiting import wait_for
from tests.zk import everything
from zkdash.actions import audit, documents
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import queue
from zkdash.actions.states import State, StepState
from zkdash.cluster.plans import intents
from zkdash.cluster.plans.intents import ElectPreferred, Reassign
from zkdash.kafka.values import Move
from zkdash.zk.writing import writer as writing

pytestmark = [
    pytest.mark.zk,
    pytest.mark.parametrize("database", ["sqlite"], indirect=True),
    pytest.mark.usefixtures("database"),
]

MOVES = tuple(Move("t0", number, (3, 4)) for number in range(3))
THROTTLED = Reassign(MOVES, concurrent=2, throttle=1000)


def replicas(chroot: Chroot) -> dict[str, list[int]]:
    found: dict[str, list[int]] = json.loads(chroot.client.get("/brokers/topics/t0")[0])["partitions"]
    return found


def test_an_election_is_asked_for_once_and_done_when_the_controller_took_it(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with Controller(chroot.address) as controller, working(chroot):
        action = ended(queued(chroot, ElectPreferred(partitions=(("t0", 1),))))
    assert (action.state, action.result) == (State.DONE, "The one step was carried out.")
    assert controller.taken == {(ELECTION, "t0", 1): 1}
    step = action.steps.get()
    assert step.state == StepState.VERIFIED
    assert (step.done, step.total) == (1, 1)
    (marker,) = chroot.client.get_children(writing.APPLIED)
    assert marker.startswith(f"{action.id}-0-")
    assert step.zxid == chroot.client.exists(f"{writing.APPLIED}/{marker}").czxid


def test_a_throttled_move_in_batches_goes_through_all_its_steps(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    secret = {"version": 1, "config": {"ssl.keystore.password": "hunter2"}}
    chroot.client.create("/config/brokers/1", json.dumps(secret).encode())
    before = everything.below(chroot.client, "/config")
    with Controller(chroot.address) as controller, working(chroot):
        action = ended(queued(chroot, THROTTLED))
    assert action.state == State.DONE, told(action)
    assert action.result == "All 6 steps were carried out."
    assert controller.taken == {(REASSIGNMENT, "t0", number): 1 for number in range(3)}
    assert replicas(chroot) == {"0": [3, 4], "1": [3, 4], "2": [3, 4], "3": [1, 2]}
    # what was set for the move is gone, and what others had set is there
    for path, (data, *_) in before.items():
        if path != "/config/changes":
            assert json.loads(chroot.client.get(path)[0] or "null") == json.loads(data or "null")
    assert len(chroot.client.get_children("/config/changes")) == 10
    kept = b"".join(bytes(row.detail) for row in Audit.objects.all()) + bytes(action.plan)
    assert b"hunter2" not in kept


def test_the_audit_has_a_row_for_each_znode_written_with_its_transaction(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with Controller(chroot.address), working(chroot):
        action = ended(queued(chroot, THROTTLED))
    wrote = Audit.objects.filter(action=action.id, event="wrote")
    plan = documents.plan(action.plan)
    assert plan is not None
    assert wrote.count() == plan.effect.znodes == 22
    zxids = {step.number: step.zxid for step in action.steps.all()}
    assert all(row.zxid == zxids[known(row.step)] for row in wrote)
    assert len(set(zxids.values())) == 6
    assert audit.verify().broken is None


@pytest.mark.parametrize(
    ("intent", "path", "word"),
    [
        (
            intents.ChangeConfig("t0", {"retention.ms": "1"}),
            "/config/topics/t0",
            "has version 1; version 0 was reviewed",
        ),
        (intents.DeleteTopic("t0"), "/brokers/topics/t0", "has version 1; version 0 was reviewed"),
        (Reassign(MOVES), "/brokers/topics/t0", "has version 1; version 0 was reviewed"),
        (intents.AddPartitions("t0", 6), "/brokers/topics/t0", "has version 1; version 0 was reviewed"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_changed_since_it_was_reviewed_is_refused_with_both_versions(
    chroot: Chroot, intent: intents.Intent, path: str, word: str
) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, intent)
    chroot.client.set(path, chroot.client.get(path)[0])
    before = everything.below(chroot.client)
    with working(chroot):
        action = ended(action)
    assert action.state == State.REFUSED
    assert action.result == f"Refused before step 1 of 1: {path} {word}. Nothing was written."
    after = {path: found for path, found in everything.below(chroot.client).items() if "/zkdash" not in path}
    before["/"] = after["/"]  # which has a child more
    assert after == before
    assert action.steps.get().state == StepState.REFUSED


def test_a_znode_that_was_made_again_with_the_same_version_is_another(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, intents.ChangeConfig("t0", {"retention.ms": "1"}))
    chroot.client.delete("/config/topics/t0")
    chroot.client.create("/config/topics/t0", b'{"version":1,"config":{}}')
    with working(chroot):
        action = ended(action)
    assert action.state == State.REFUSED
    assert "/config/topics/t0 was deleted and made again" in action.result


def test_a_target_that_died_since_the_review_is_refused(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, Reassign(MOVES))
    chroot.client.delete("/brokers/ids/4")
    with working(chroot):
        action = ended(action)
    assert action.state == State.REFUSED
    assert "Broker 4 is no longer registered" in action.result


def test_nothing_is_written_once_kraft_owns_the_metadata(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, ElectPreferred())
    chroot.client.create("/migration", worlds.migration(3000))
    with working(chroot):
        action = ended(action)
    assert action.state == State.REFUSED
    assert "/migration names KRaft controller 3000" in action.result


def test_nothing_is_written_once_a_kraft_controller_stands_in_controller(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, Reassign(MOVES))
    chroot.client.create("/migration", worlds.migration(-1, epoch=-1))  # it waits: that alone stops nobody
    owned = b'{"version":2,"brokerid":3000,"timestamp":"1","kraftControllerEpoch":1}'
    if chroot.client.exists("/controller"):
        chroot.client.delete("/controller")
    chroot.client.create("/controller", owned)
    with working(chroot):
        action = ended(action)
    assert action.state == State.REFUSED
    assert "A KRaft controller owns the metadata" in action.result
    assert chroot.client.exists(REASSIGNMENT) is None


def test_somebodys_change_between_the_steps_is_refused_and_what_stays_is_told(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with Controller(chroot.address) as controller, working(chroot):
        controller.rest()
        action = queued(chroot, THROTTLED)
        wait_for(lambda: chroot.client.exists(REASSIGNMENT), 60, lambda: told(action))
        data, _ = chroot.client.get("/config/topics/t0")
        chroot.client.set("/config/topics/t0", data)
        controller.act()
        action = ended(action)
    assert action.state == State.REFUSED
    assert action.result == (
        "Refused before step 5 of 6: /config/topics/t0 has version 2; our own earlier step left version 1. "
        "Steps 1 to 4 of 6 were carried out. The throttle that was set stays: clear it."
    )


def test_it_waits_in_the_queue_for_a_reassignment_that_is_not_ours(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, Reassign(MOVES))
    chroot.client.create(REASSIGNMENT, b'{"version":1,"partitions":[]}')
    controller = Controller(chroot.address)
    controller.rest()  # before it first looks: what lies there would be taken
    with working(chroot), controller:
        wait_for(lambda: "Waits for a reassignment" in now(action).result, 60, lambda: told(action))
        assert now(action).state == State.QUEUED
        assert "that zkdash did not start" in now(action).result
        controller.act()
        assert ended(action).state == State.DONE


def test_it_waits_for_a_move_that_the_brokers_own_api_began(chroot: Chroot) -> None:
    cluster.make(chroot.client, topics=2)
    action = queued(chroot, Reassign(MOVES))
    whole, _ = chroot.client.get("/brokers/topics/t1")
    moving = {"version": 2, "partitions": {"0": [3, 1, 2]}, "adding_replicas": {"0": [3]}}
    chroot.client.set("/brokers/topics/t1", json.dumps(moving).encode())
    with working(chroot), Controller(chroot.address):
        wait_for(lambda: "partitions move of t1" in now(action).result)
        assert now(action).state == State.QUEUED
        chroot.client.set("/brokers/topics/t1", whole)
        assert ended(action).state == State.DONE


def test_a_goal_that_does_not_come_is_waited_for_until_a_person_stops(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with working(chroot):
        action = queued(chroot, Reassign(MOVES))
        wait_for(lambda: now(action).state == State.VERIFYING, 60, lambda: told(action))
        detail = wait_for(lambda: documents.detail(now(action).steps.get().detail or b""))
        assert detail["partitions"] == [["t0", number, "moves"] for number in range(3)]
        queue.stop(action.id, ANN)
        action = ended(action)
    assert action.state == State.STOPPED
    assert "waited for Kafka, which goes on with it by itself" in action.result


def test_a_goal_that_failed_is_told(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with working(chroot):
        action = queued(chroot, Reassign(MOVES[:1]))
        wait_for(lambda: chroot.client.exists(REASSIGNMENT))
        chroot.client.delete(REASSIGNMENT)  # as 0.8 and 0.9 do with a move to a dead broker
        action = ended(action)
    assert action.state == State.FAILED
    assert "t0-0 no longer moves and is not where it should be" in action.result


def test_a_paused_action_begins_no_step_until_it_is_resumed(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with Controller(chroot.address) as controller, working(chroot):
        controller.rest()
        action = queued(chroot, Reassign(MOVES, concurrent=1))
        wait_for(lambda: chroot.client.exists(REASSIGNMENT))
        queue.pause(action.id, ANN)
        controller.act()
        wait_for(lambda: now(action).step == 1)
        queue.stop(action.id, ANN)
        action = ended(action)
    assert action.result == "Stopped before step 2 of 3. Step 1 of 3 was carried out."
    assert controller.taken == {(REASSIGNMENT, "t0", 0): 1}


def repeated(chroot: Chroot, intent: intents.Intent) -> Action:
    """One that was repeated before: its time has come, it is to be planned anew."""
    action = queued(chroot, intent)
    user = operator()
    Action.objects.filter(id=action.id).update(plan=b"", repeat_s=3600, user_id=user.user_id, by=user.name)
    action.steps.all().delete()
    return action


def test_a_repeated_action_that_finds_nothing_to_do_is_done_and_goes_on(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    action = repeated(chroot, ElectPreferred())
    for number in range(4):
        led = {"controller_epoch": 1, "leader": 1, "version": 1, "leader_epoch": 1, "isr": [1, 2]}
        chroot.client.set(f"/brokers/topics/t0/partitions/{number}/state", json.dumps(led).encode())
    with working(chroot):
        action = ended(action)
    assert action.state == State.DONE
    assert action.result == (
        "No election would change anything: each partition is led by its preferred replica. "
        "Nothing was written."
    )
    assert Action.objects.get(state=State.QUEUED).before == action


@pytest.mark.parametrize("is_planned", [False, True])
def test_what_repeats_does_not_run_where_approval_is_asked_for_since(
    chroot: Chroot, is_planned: bool
) -> None:
    cluster.make(chroot.client)
    if is_planned:
        action = queued(chroot, ElectPreferred())
        Action.objects.filter(id=action.id).update(repeat_s=3600)
    else:
        action = repeated(chroot, ElectPreferred())
    with Controller(chroot.address) as controller, working(chroot, approval=True):
        action = ended(action)
    assert action.state == State.REFUSED
    assert "have to be approved by a second person, which a repeated one cannot be" in action.result
    assert controller.taken == {}
    assert Action.objects.count() == 1
    assert Audit.objects.filter(event="repeat-ended", action=action.id).count() == 1


def test_what_had_begun_to_write_before_approval_was_asked_for_is_carried_through(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with Controller(chroot.address) as controller:
        controller.rest()
        with working(chroot):
            action = queued(chroot, ElectPreferred())
            Action.objects.filter(id=action.id).update(repeat_s=3600)
            wait_for(lambda: now(action).state == State.VERIFYING, 60, lambda: told(action))
        controller.act()
        with working(chroot, approval=True):
            assert ended(action).state == State.DONE


def test_a_plan_that_is_kept_in_no_known_form_fails_in_a_sentence(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, ElectPreferred())
    type(action).objects.filter(id=action.id).update(plan=b"[]")
    with working(chroot):
        action = ended(action)
    assert action.state == State.FAILED
    assert "This is no plan" in action.result
