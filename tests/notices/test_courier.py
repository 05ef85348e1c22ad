"""Who carries what waits: to a real HTTP server, signed, again until it is taken, and over a restart."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests.notices.conftest import NOTICE, SECRET, Tell
from tests.notices.receiving import Receiver
from tests.waiting import wait_for
from zkdash.notices import outbox
from zkdash.notices.courier import Courier
from zkdash.notices.models import Delivery

pytestmark = pytest.mark.django_db(transaction=True)


class Clock:
    """The time now, moved on by hand."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return timezone.now() + self.ahead


def carried(courier: Courier, clock: Clock, until: Callable[[], object], most: int = 40) -> None:
    """Turn after turn, an hour between them."""
    for _ in range(most):
        courier.turn()
        if until():
            return
        clock.ahead += timedelta(hours=1)
    raise AssertionError(f"not in {most} turns: {list(Delivery.objects.values())}")


def test_a_notice_is_signed_over_its_time_and_its_body(configured: Tell) -> None:
    with Receiver(204) as receiver:
        configured(webhooks=(receiver.url,))
        outbox.enqueue(NOTICE)
        assert Courier().turn()
    [(path, headers, body)] = receiver.heard
    row = Delivery.objects.get()
    assert (path, body) == ("/hooks/very-secret", bytes(row.body))
    assert (headers["Content-Type"], headers["Zkdash-Delivery"]) == ("application/json", row.key)
    given = dict(part.split("=", 1) for part in headers["Zkdash-Signature"].split(","))
    wanted = hmac.new(SECRET.encode(), f"{given['t']}.".encode() + body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(given["v1"], wanted)
    assert row.is_taken


@pytest.mark.parametrize("status", [500, 404, 302, 307, 429])
def test_what_is_not_taken_is_tried_again_as_the_same_delivery_and_no_redirect_is_followed(
    status: int, configured: Tell, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    with Receiver(status, status, 200) as receiver:
        configured(webhooks=(receiver.url,))
        outbox.enqueue(NOTICE)
        courier = Courier(clock=clock)
        courier.turn()
        row = Delivery.objects.get()
        assert (row.attempts, row.last_error, row.ended_at) == (1, f"it answered {status}", None)
        courier.turn()  # too early
        carried(courier, clock, lambda: Delivery.objects.get().ended_at)
    assert [path for path, _, _ in receiver.heard] == ["/hooks/very-secret"] * 3
    assert {headers["Zkdash-Delivery"] for _, headers, _ in receiver.heard} == {row.key}
    assert Delivery.objects.get().is_taken
    assert f"answered {status}" in caplog.text
    assert "very-secret" not in caplog.text


def test_what_nobody_takes_for_a_day_is_given_up_and_said_so(
    configured: Tell, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    with Receiver(200) as gone:
        pass
    configured(webhooks=(gone.url,))
    outbox.enqueue(NOTICE)
    carried(Courier(clock=clock), clock, lambda: Delivery.objects.get().ended_at)
    row = Delivery.objects.get()
    assert not row.is_taken
    assert row.last_error == "Connection refused"
    assert clock.ahead >= timedelta(days=1)
    assert "is given up" in caplog.text


def test_an_address_that_takes_nothing_is_tried_once_a_turn_and_holds_up_no_other(configured: Tell) -> None:
    with Receiver(500) as sick, Receiver(200) as well:
        configured(webhooks=(sick.url, well.url))
        for _ in range(5):
            outbox.enqueue(NOTICE)
        Courier().turn()
        assert (len(sick.heard), len(well.heard)) == (1, 5)


def test_an_address_that_the_configuration_lost_is_told_nothing(configured: Tell) -> None:
    with Receiver(200) as receiver:
        configured(webhooks=(receiver.url,))
        outbox.enqueue(NOTICE)
        configured(webhooks=(receiver.url + "/moved",))
        assert not Courier().turn()
    assert receiver.heard == []
    assert Delivery.objects.get().last_error == "the configuration does not have this address any more"


def test_what_is_told_of_a_cluster_that_another_process_follows_waits_for_that_process(
    configured: Tell, settings: Settings
) -> None:
    with Receiver(200) as receiver:
        configured(webhooks=(receiver.url,))
        outbox.enqueue(NOTICE)
        ours, settings.ZKDASH_CLUSTERS = settings.ZKDASH_CLUSTERS, ()
        settings.ZKDASH_ELSEWHERE = frozenset({"shop"})
        assert not Courier().turn()
        assert Delivery.objects.get().attempts == 0
        settings.ZKDASH_CLUSTERS, settings.ZKDASH_ELSEWHERE = ours, frozenset()
        assert Courier().turn()
        assert len(receiver.heard) == 1


def test_what_waits_is_sent_by_who_is_started_next(configured: Tell) -> None:
    with Receiver(200) as gone:
        port = gone.port
    configured(webhooks=(gone.url,))
    outbox.enqueue(NOTICE)
    first = Courier(poll_s=0.02)
    first.start()
    wait_for(lambda: Delivery.objects.get().last_error)
    assert first.stop()
    Delivery.objects.update(next_at=timezone.now())
    with Receiver(200, port=port) as back:
        second = Courier(poll_s=0.02)
        second.start()
        wait_for(lambda: Delivery.objects.get().is_taken)
        assert second.stop()
    assert len(back.heard) == 1


def test_where_nobody_is_told_nothing_runs(configured: Tell) -> None:
    configured()
    courier = Courier()
    courier.start()
    assert not courier._thread.is_alive()
    assert courier.stop()
