"""The outbox on both databases: who takes a delivery, when it is tried again, and when it ends."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests.databases import in_threads
from tests.notices.conftest import NOTICE, Tell
from zkdash.notices import outbox
from zkdash.notices.models import Delivery
from zkdash.notices.outbox import Notice

URL = "https://ops.example.org/hooks/very-secret"

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def waiting(configured: Tell) -> Delivery:
    configured(webhooks=(URL,))
    assert outbox.enqueue(NOTICE) == 1
    return Delivery.objects.get()


def test_a_notice_is_kept_for_each_address_of_its_cluster_without_what_is_secret(configured: Tell) -> None:
    configured(webhooks=(URL, URL + "/2"), mail=("ops@example.org",))
    assert outbox.enqueue(NOTICE) == 3
    assert outbox.enqueue(Notice("action-ended", "another", "action 1", "One.")) == 0
    rows = list(Delivery.objects.order_by("id"))
    assert {json.dumps(json.loads(bytes(row.body))) for row in rows} == {
        '{"event": "action-ended", "cluster": "shop", "id": 42, "state": "done"}'
    }
    names = [row.target for row in rows]
    assert names[2] == "mailto:ops@example.org"
    assert all(name.startswith("https://ops.example.org (") for name in names[:2])
    assert len({*names}) == len({row.key for row in rows}) == 3
    assert not any("secret" in repr(values) for values in Delivery.objects.values())


def test_it_links_to_its_page_where_the_configuration_says_how_people_reach_it(
    configured: Tell, settings: Settings
) -> None:
    configured(webhooks=(URL,))
    settings.ZKDASH_ADDRESS = "https://kafka.example.org/zkdash"
    outbox.enqueue(NOTICE)
    outbox.enqueue(Notice("audit-broken", "shop", "audit", "Of no page."))
    linked, other = (json.loads(bytes(row.body)) for row in Delivery.objects.order_by("id"))
    assert linked["url"] == "https://kafka.example.org/zkdash/c/shop/actions/42/"
    assert "url" not in other


def test_nobody_is_told_of_what_is_not_committed(configured: Tell) -> None:
    configured(webhooks=(URL,))
    with transaction.atomic():
        assert outbox.enqueue(NOTICE) == 1
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_names_that_no_database_or_mail_takes_are_taken(configured: Tell) -> None:
    configured(webhooks=(URL,))
    strange = "a\0b\ud800\r\nBcc: x" + "y" * 400
    assert outbox.enqueue(Notice("check-raised", "shop", "check D1", strange, {"name": strange})) == 1
    row = Delivery.objects.get()
    assert json.loads(bytes(row.body))["name"] == strange
    assert row.sentence.startswith("a\ufffdb\ufffd\ufffd\ufffdBcc: xy")
    assert len(row.sentence) == 300


def test_of_many_that_try_one_has_it_and_who_dies_with_it_lets_it_go_after_two_minutes(
    waiting: Delivery,
) -> None:
    now = timezone.now()

    def take() -> bool:
        return outbox.claim(Delivery.objects.get(pk=waiting.pk), now)

    found = [outbox.due("shop", waiting.target, now)[0] for _ in range(4)]
    assert sum(in_threads(*(lambda one=one: outbox.claim(one, now) for one in found))) == 1
    assert outbox.targets_due(now + timedelta(seconds=119)) == []
    later = now + timedelta(seconds=121)
    assert outbox.targets_due(later) == [("shop", waiting.target)]
    [again] = outbox.due("shop", waiting.target, later)
    assert again.attempts == 1
    assert take()


def test_it_is_tried_less_and_less_often_and_given_up_after_a_day(waiting: Delivery) -> None:
    pauses, now = [], waiting.next_at
    while True:
        [row] = outbox.due("shop", waiting.target, now)
        assert outbox.claim(row, now)
        if not outbox.refused(row, "it answered 500", now):
            break
        then = Delivery.objects.get().next_at
        pauses.append((then - now).total_seconds())
        now = then
    assert pauses[:7] == [5, 15, 45, 135, 405, 1215, 3600]
    assert {*pauses[6:]} == {3600}
    row = Delivery.objects.get()
    assert timedelta(days=1) <= now - row.made_at < timedelta(days=1, hours=1)
    assert (row.ended_at, row.is_taken, row.last_error) == (now, False, "it answered 500")
    assert row.attempts == len(pauses) + 1
    assert outbox.targets_due(now + timedelta(days=9)) == []


def test_what_was_taken_is_not_tried_again_and_forgotten_after_a_month(waiting: Delivery) -> None:
    now = timezone.now()
    assert outbox.claim(waiting, now)
    outbox.taken(waiting, now)
    assert not outbox.claim(waiting, now)
    row = Delivery.objects.get()
    assert (row.is_taken, row.ended_at, row.attempts) == (True, now, 1)
    assert outbox.forget(now + timedelta(days=29)) == 0
    assert outbox.forget(now + timedelta(days=31)) == 1


def test_where_very_many_wait_nobody_is_told_of_more_and_the_log_says_so(
    waiting: Delivery, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(outbox, "MOST_WAITING", 1)
    assert outbox.enqueue(NOTICE) == 0
    assert "Nobody is told of action 42 of shop: 1 wait" in caplog.text
    outbox.taken(waiting, timezone.now())
    assert outbox.enqueue(NOTICE) == 1
