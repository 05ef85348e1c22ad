"""What of findings is told to others, and how often: time is what the test says."""

from __future__ import annotations

import json

import msgspec
import pytest
from django.urls import reverse
from pytest_django.fixtures import Settings

from tests.alarms import seeing
from tests.databases import Database, in_threads
from tests.notices.receiving import Mailbox, Receiver
from zkdash.actions.actor import Actor
from zkdash.actions.models import Audit
from zkdash.alarms import acknowledging, testing
from zkdash.alarms.acknowledging import Shown
from zkdash.alarms.keeping import Keeper
from zkdash.alarms.open_alarms import Seen
from zkdash.configuration.checks import Checks, ChecksByCluster
from zkdash.notices.courier import Courier
from zkdash.notices.models import Delivery
from zkdash.zk.config import ClusterConfig

pytestmark = pytest.mark.django_db(transaction=True)

RAISED, CLEARED = "check-raised", "check-cleared"
FAILS, PASSES = seeing.failing("D3", "orders"), seeing.passing("D3")


@pytest.fixture(autouse=True)
def _told(settings: Settings) -> None:
    settings.ZKDASH_WEBHOOK_SECRET = "what we share"
    configure(settings, webhooks=("http://127.0.0.1:9/hooks/x",))


def configure(settings: Settings, webhooks: tuple[str, ...] = (), mail: tuple[str, ...] = ()) -> None:
    shop = ClusterConfig("shop", (("127.0.0.1", 1),), webhooks=webhooks, mail=mail)
    settings.ZKDASH_CLUSTERS = (shop,)


def turn(seen: Seen, seconds: float, rules: Checks = Checks()) -> list[str]:  # noqa: B008 - a frozen value
    """What is told because of it."""
    before = Delivery.objects.count()
    Keeper(ChecksByCluster(rules)).turn({"shop": seen}, seeing.at(seconds))
    return [one.event for one in Delivery.objects.order_by("id")[before:]]


def test_a_finding_is_told_once_it_stood_for_its_time_and_told_as_over_likewise() -> None:
    assert turn(FAILS, 0) == []
    assert turn(FAILS, 59) == []
    assert turn(FAILS, 60) == [RAISED]
    assert turn(FAILS, 5000) == []
    assert turn(PASSES, 5001) == []
    assert turn(PASSES, 5060) == []
    assert turn(PASSES, 5061) == [CLEARED]
    assert turn(PASSES, 9000) == []
    raised, cleared = (json.loads(bytes(one.body)) for one in Delivery.objects.order_by("id"))
    assert raised["id"] == cleared["id"] == "shop/D3/1"
    assert (raised["cluster"], raised["check"], raised["severity"], raised["count"]) == (
        "shop",
        "D3",
        "critical",
        1,
    )
    assert raised["sentence"] in Delivery.objects.order_by("id")[0].sentence
    assert cleared["cleared_at"] == seeing.at(5001).isoformat()


def test_it_leads_to_the_page_of_the_check(settings: Settings) -> None:
    settings.ZKDASH_ADDRESS = "https://kafka.example.org"
    turn(FAILS, 0)
    assert turn(FAILS, 60) == [RAISED]
    page = reverse("check", kwargs={"cluster": "shop", "check": "D3"})
    assert json.loads(bytes(Delivery.objects.get().body))["url"] == f"https://kafka.example.org{page}"


def test_what_did_not_stand_for_its_time_is_not_told() -> None:
    turn(FAILS, 0)
    assert turn(PASSES, 30) == []
    assert turn(PASSES, 5000) == []


def test_what_comes_back_before_its_end_was_told_is_not_told_anew() -> None:
    turn(FAILS, 0)
    turn(FAILS, 60)
    turn(PASSES, 100)
    assert turn(FAILS, 130) == []
    assert turn(FAILS, 5000) == []
    turn(PASSES, 5100)
    assert turn(PASSES, 5160) == [CLEARED]


def test_what_flaps_is_told_once_in_its_time_with_how_often() -> None:
    told: list[tuple[int, str]] = []
    for second in range(0, 1800, 10):  # 20 s of each
        told += [(second, event) for event in turn(FAILS if second % 40 < 20 else PASSES, second)]
    assert [event for _, event in told] == [RAISED]
    assert told[0][0] == 80  # the third time
    (delivery,) = Delivery.objects.all()
    assert "(3 times of late)" in delivery.sentence
    turn(PASSES, 1800)
    assert turn(PASSES, 1900) == []  # it flapped a moment ago
    assert turn(PASSES, 2700) == [CLEARED]


def test_that_a_finding_stands_is_told_at_most_so_often() -> None:
    turn(FAILS, 0)
    assert turn(FAILS, 60) == [RAISED]
    turn(PASSES, 61)
    assert turn(PASSES, 121) == [CLEARED]
    turn(FAILS, 200)
    assert turn(FAILS, 900) == []
    assert turn(FAILS, 961) == [RAISED]


def test_mild_findings_and_acknowledged_ones_are_not_told_and_others_are() -> None:
    only_critical = Checks(alert_severity="critical")
    mild = seeing.failing("D4", "orders")
    turn(mild, 0, only_critical)
    assert turn(mild, 60, only_critical) == []
    assert turn(mild, 61, Checks(alert_severity="off")) == []
    shown = Shown("shop", "D4", 1, mild.observations.looked["D4"])
    number = acknowledging.acknowledge(shown, Actor("ann"), "we know", now=seeing.at(61))
    assert turn(mild, 62) == []
    acknowledging.withdraw("shop", "D4", number, Actor("ann"), now=seeing.at(63))
    assert turn(mild, 64) == [RAISED]


def test_nobody_is_told_where_nobody_is_to_be(settings: Settings) -> None:
    configure(settings)
    turn(FAILS, 0)
    assert turn(FAILS, 60) == []


def test_what_a_process_does_not_follow_is_not_told() -> None:
    turn(FAILS, 0)
    assert turn(msgspec.structs.replace(FAILS, current=False), 60) == []


def test_one_of_many_processes_tells(database: Database) -> None:
    turn(FAILS, 0)
    in_threads(*[lambda: turn(FAILS, 61)] * 4)
    assert Delivery.objects.filter(event=RAISED).count() == 1
    turn(PASSES, 100)
    in_threads(*[lambda: turn(PASSES, 161)] * 4)
    assert Delivery.objects.filter(event=CLEARED).count() == 1


def test_it_arrives(settings: Settings) -> None:
    with Receiver(200) as receiver:
        configure(settings, webhooks=(receiver.url,))
        turn(FAILS, 0)
        turn(FAILS, 60)
        Courier().turn()
    [(_, _, body)] = receiver.heard
    assert json.loads(body)["event"] == RAISED


def test_a_test_alert_says_of_each_address_what_came_of_it(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.ZKDASH_ADDRESS = "https://kafka.example.org"
    with Receiver(500) as receiver, Mailbox() as mailbox:
        settings.EMAIL_PORT = mailbox.port
        configure(settings, webhooks=(receiver.url,), mail=("ops@example.com",))
        webhook, mail = testing.send("shop", Actor("ann"))
    assert "500" in webhook.trouble
    assert "very-secret" not in webhook.target
    assert (mail.target, mail.trouble) == ("mailto:ops@example.com", "")
    [(recipient, text)] = mailbox.mails
    assert recipient == "ops@example.com"
    heard = json.loads(receiver.heard[0][2])
    assert (heard["event"], heard["url"]) == ("alert-test", "https://kafka.example.org/c/shop/checks/")
    assert heard["url"] in text.get_content().splitlines()
    assert Audit.objects.get().event == "alert-test"
    assert Delivery.objects.count() == 0
