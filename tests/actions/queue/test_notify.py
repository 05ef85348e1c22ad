"""What others are told of actions: each that ends, whoever ended it, in the transaction of its end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse
from pytest_django.fixtures import Settings

from tests.actions import small
from tests.actions.carrying import config, ended, queued, told, working
from tests.conftest import Chroot
from tests.faults import cluster
from tests.faults.controller import Controller
from tests.notices.receiving import Receiver
from tests.waiting import wait_for
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action
from zkdash.actions.queue import queue
from zkdash.actions.states import State
from zkdash.cluster.plans.intents import ElectPreferred
from zkdash.notices.courier import Courier
from zkdash.notices.models import Delivery
from zkdash.zk.config import ClusterConfig


@pytest.fixture
def _told(settings: Settings) -> None:
    settings.ZKDASH_CLUSTERS = (
        ClusterConfig("c", (("127.0.0.1", 1),), webhooks=("https://ops.example.org/x",)),
    )


def heard() -> list[dict[str, Any]]:
    return [json.loads(bytes(one.body)) for one in Delivery.objects.order_by("id")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_told")
def test_what_a_worker_ended_is_told_once_and_not_by_who_lost_it() -> None:
    action = small.claimed()
    lost = Action.objects.get(pk=action.pk)
    lost.fence = action.fence - 1
    assert not leasing.end(lost, State.FAILED, "No.", small.NOW)
    assert leasing.end(action, State.DONE, "The one step was carried out.", small.NOW)
    assert not leasing.end(action, State.DONE, "The one step was carried out.", small.NOW)
    [found] = heard()
    assert found == {
        "event": "action-ended",
        "cluster": "c",
        "id": action.pk,
        "kind": "delete-topic",
        "target": "a",
        "state": "done",
        "by": "ann",
        "result": "The one step was carried out.",
        "started_at": "2026-11-21T12:00:00+00:00",
        "ended_at": "2026-11-21T12:00:00+00:00",
    }
    row = Delivery.objects.get()
    assert row.about == f"action {action.pk}"
    assert row.sentence == (f"Action {action.pk} (delete-topic of a) is done: The one step was carried out.")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_told")
def test_it_leads_to_the_page_of_the_action(settings: Settings) -> None:
    settings.ZKDASH_ADDRESS = "https://kafka.example.org"
    action = small.claimed()
    assert leasing.end(action, State.DONE, "The one step was carried out.", small.NOW)
    page = reverse("action", kwargs={"cluster": "c", "number": action.pk})
    assert heard()[0]["url"] == f"https://kafka.example.org{page}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_told")
def test_what_a_person_ended_without_a_worker_is_told_too() -> None:
    withdrawn = small.queued()
    queue.stop(withdrawn.pk, small.BEN)
    unknown = small.claimed()
    leasing.intend(unknown, 0, small.NOW)
    assert leasing.end(unknown, State.UNKNOWN, "Nobody can tell.", small.NOW, number=0)
    queue.settle(unknown.pk, small.BEN, applied=False, sentence="It is not there.")
    assert [(one["id"], one["state"], one["result"]) for one in heard()] == [
        (withdrawn.pk, "stopped", "Withdrawn by ben; nothing was written."),
        (unknown.pk, "unknown", "Nobody can tell."),
        (unknown.pk, "failed", "ben: It is not there."),
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_told")
def test_what_goes_on_is_not_told() -> None:
    running = small.claimed()
    queue.pause(running.pk, small.BEN)
    queue.resume(running.pk, small.BEN)
    queue.stop(running.pk, small.BEN)  # it ends when its worker says so
    assert heard() == []


@pytest.mark.zk
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("database")
def test_a_receiver_hears_of_what_a_worker_carried_out(chroot: Chroot, settings: Settings) -> None:
    settings.ZKDASH_WEBHOOK_SECRET = "what we share"
    cluster.make(chroot.client)
    with Receiver(200) as receiver, Controller(chroot.address):
        settings.ZKDASH_CLUSTERS = (config(chroot, webhooks=(receiver.url,)),)
        courier = Courier(poll_s=0.05)
        courier.start()
        action = queued(chroot, ElectPreferred(partitions=(("t0", 1),)))
        with working(chroot):
            assert ended(action).state == State.DONE, told(action)
        wait_for(lambda: receiver.heard)
        assert courier.stop()
    assert json.loads(receiver.heard[0][2])["id"] == action.pk
