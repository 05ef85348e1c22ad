"""The page of messages: who may look, what the audit hears, and what is shown of what a broker sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.http import HttpResponseBase
from django.test import Client
from pytest_django.fixtures import Settings

from tests.broker.listening import Asked, Listening
from tests.broker.messages.partition import Partition
from tests.formats import messages
from tests.web import states
from zkdash.access.models import Grant
from zkdash.actions import audit
from zkdash.actions.models import Audit
from zkdash.configuration.messages import Messages
from zkdash.zk.config import ClusterConfig

BACKEND = "django.contrib.auth.backends.ModelBackend"
PAGE = "/c/demo/topics/orders/messages/"
SECRET = "card-4711"
LOG = [
    (0, 0, messages.batch(0, [(0, 0, b"k0", b"plain", [("trace", b"t0")])])),
    (1, 1, messages.batch(1, [(0, 0, b"k1", json.dumps({"card": SECRET}).encode(), [])], codec="gzip")),
    (2, 2, messages.batch(2, [(0, 0, b"k2", None, [])], producer=(7, 1, 3))),
    (3, 3, messages.batch(3, [(0, 0, b"\x00\x01", b"\xff\xfe<script>", [])])),
]


@pytest.fixture
def broker() -> Iterator[Listening]:
    with Listening(Partition(LOG)) as server:
        yield server


@pytest.fixture
def site(db: None, settings: Settings, broker: Listening) -> Settings:
    """A cluster whose broker has the log, where messages may be looked at."""
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),)),)
    settings.ZKDASH_MESSAGES = Messages(clusters=("demo",))
    registration = {
        "version": 4,
        "host": "127.0.0.1",
        "port": broker.port,
        "jmx_port": -1,
        "timestamp": "1",
        "endpoints": [f"PLAINTEXT://127.0.0.1:{broker.port}"],
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
    }
    states.publish(
        {**states.healthy(), "/brokers/ids/1": states.znode(registration, owner=0x100), **LED_BY_1}
    )
    return settings


LED_BY_1 = {
    "/brokers/topics/orders": states.znode({"version": 1, "partitions": {"0": [1]}}),
    "/brokers/topics/orders/partitions/0/state": states.state(1, [1]),
}


def person(name: str = "ann", role: str = "viewer", *, may_look: bool = True, root: bool = False) -> Client:
    user = User.objects.create_user(name, is_superuser=root)
    Grant.objects.create(user=user, role=role, clusters="demo", messages=may_look)
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


@pytest.fixture
def ann(site: Settings) -> Client:
    return person()


def looked(client: Client, query: str) -> Any:
    answer = client.get(f"{PAGE}?{query}&format=json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def lines() -> list[tuple[str, dict[str, Any]]]:
    """What the audit heard of looks."""
    rows = Audit.objects.filter(event="messages").order_by("id")
    return [(row.who, json.loads(bytes(row.detail))) for row in rows]


def text(answer: HttpResponseBase) -> str:
    return bytes(getattr(answer, "content")).decode()  # noqa: B009 - of a response of the test's client


@pytest.mark.parametrize("role", ["viewer", "operator", "approver", "admin"])
def test_without_the_right_the_page_is_not_there_whatever_the_role(
    site: Settings, broker: Listening, role: str
) -> None:
    client = person(role=role, may_look=False)
    for query in ("", "?place=last", "?place=last&format=json", "?at=-5m"):
        assert client.get(PAGE + query).status_code == 404
    assert person("root", may_look=False, root=True).get(f"{PAGE}?place=last").status_code == 404
    assert Client().get(f"{PAGE}?place=last").status_code == 404  # who reads without signing in
    assert (broker.connections, lines()) == (0, [])
    assert "messages/" not in text(client.get("/c/demo/topics/orders/"))


def test_with_the_right_and_without_the_configuration_it_is_not_there_either(
    ann: Client, site: Settings
) -> None:
    assert ann.get(PAGE).status_code == 200
    assert f'href="{PAGE}"' in text(ann.get("/c/demo/topics/orders/"))
    site.ZKDASH_MESSAGES = Messages(clusters=("other", "de?"))
    assert ann.get(f"{PAGE}?place=last").status_code == 404
    assert PAGE not in text(ann.get("/c/demo/topics/orders/"))


def test_the_right_on_one_cluster_is_none_on_another(site: Settings) -> None:
    user = User.objects.create_user("eve")
    Grant.objects.create(user=user, role="viewer", clusters="demo")
    Grant.objects.create(user=user, role="viewer", clusters="other", messages=True)
    client = Client()
    client.force_login(user, backend=BACKEND)
    assert client.get(PAGE).status_code == 404


def test_the_page_alone_fetches_nothing(ann: Client, broker: Listening) -> None:
    assert "Nothing was fetched yet" in text(ann.get(PAGE))
    assert ann.get(f"{PAGE}?format=json").status_code == 400
    assert (broker.connections, lines()) == (0, [])


def test_contents_are_masked_until_they_are_asked_for(ann: Client) -> None:
    masked = looked(ann, "place=last")
    assert masked["masked"] is True
    assert [row["value"]["size"] if row["value"] else None for row in masked["rows"]] == [5, 21, None, 10]
    assert {row["key"]["text"] for row in masked["rows"]} == {None}
    assert masked["rows"][0]["headers"] == [
        {
            "name": None,
            "value": {"size": 2, "text": None, "format": None, "cut": False, "text_reason": "masked"},
        }
    ]
    for answer in (ann.get(f"{PAGE}?place=last"), ann.get(f"{PAGE}?place=last&format=json")):
        assert SECRET not in text(answer)
        assert "trace" not in text(answer)
    shown = looked(ann, "place=last&show=1")
    assert SECRET in shown["rows"][1]["value"]["text"]
    assert shown["rows"][0]["headers"][0]["name"] == "trace"


def test_a_message_is_told_with_all_that_there_is_of_it(ann: Client) -> None:
    found = looked(ann, "place=from&offset=1&show=1")
    assert (found["log_start"], found["log_end"], found["from"], found["to"], found["read"]) == (
        0,
        4,
        1,
        4,
        3,
    )
    card, gone, binary = found["rows"]
    assert (card["value"]["format"], card["timestamp"], card["timestamp_type"]) == (
        "json",
        "1970-01-01T00:00:01.000Z",
        "CreateTime",
    )
    assert card["batch"]["codec"] == "gzip"
    assert (gone["tombstone"], gone["value"], gone["batch"]["producer_id"]) == (True, None, 7)
    assert (binary["value"]["format"], binary["key"]["format"]) == ("hex", "hex")


@pytest.mark.parametrize(
    ("how", "formats"),
    [
        ("auto", "text json hex"),
        ("text", "text text text"),
        ("hex", "hex hex hex"),
        ("json", "text json text"),
    ],
)
def test_contents_are_shown_in_the_format_that_is_asked_for(ann: Client, how: str, formats: str) -> None:
    rows = looked(ann, f"place=last&show=1&as={how}")["rows"]
    assert [row["value"]["format"] for row in rows if row["value"]] == formats.split()


def test_what_producers_wrote_is_text_on_the_page(ann: Client) -> None:
    page = text(ann.get(f"{PAGE}?place=last&show=1&as=text"))
    assert "\\xff\\xfe&lt;script&gt;" in page
    assert "<script>" not in page.partition("<main")[2]


def test_a_filter_counts_what_it_left_out(ann: Client) -> None:
    found = looked(ann, "place=last&q=CARD&show=1")
    assert ([row["offset"] for row in found["rows"]], found["total"], found["read"]) == ([1], 1, 4)
    assert "1 of 4 hold" in text(ann.get(f"{PAGE}?place=last&q=CARD"))
    assert "None of the 4 messages" in text(ann.get(f"{PAGE}?place=last&q=nothing+of+it"))


def test_one_goes_on_and_back(ann: Client) -> None:
    page = text(ann.get(f"{PAGE}?place=from&offset=1&count=2&q=&show=1"))
    assert 'href="?partition=0&amp;place=before&amp;offset=1&amp;count=2&amp;show=1" rel="prev"' in page
    assert 'href="?partition=0&amp;place=from&amp;offset=3&amp;count=2&amp;show=1" rel="next"' in page
    assert [row["offset"] for row in looked(ann, "place=before&offset=1&count=2")["rows"]] == [0]
    assert (
        "rel="
        not in text(ann.get(f"{PAGE}?place=last")).partition("<main")[2].partition("Pages of the log")[2]
    )


def test_each_look_is_a_line_of_the_audit_without_contents(ann: Client) -> None:
    ann.get(f"{PAGE}?place=from&offset=1&q=card&show=1")
    ann.get(f"{PAGE}?place=last&format=json")
    common = {"topic": "orders", "partition": 0}
    assert lines() == [
        (
            "ann",
            {
                **common,
                "asked": "from offset 1",
                "shown": True,
                "filter": "card",
                "from": 1,
                "to": 4,
                "messages": 1,
                "read": 3,
            },
        ),
        (
            "ann",
            {
                **common,
                "asked": "the last 50",
                "shown": False,
                "filter": "",
                "from": 0,
                "to": 4,
                "messages": 4,
                "read": 4,
            },
        ),
    ]
    assert SECRET not in str(lines())
    listed = text(ann.get("/c/demo/audit/?event=messages"))
    assert "Looked at messages 1 to 4 of partition 0 of orders that hold “card”, with contents" in listed
    assert audit.verify().broken is None


def test_what_the_audit_cannot_keep_is_not_shown(ann: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> int:
        raise DatabaseError("disk full")

    monkeypatch.setattr(audit, "append", away)
    ann.raise_request_exception = False
    answer = ann.get(f"{PAGE}?place=last&show=1")
    assert answer.status_code >= 500
    assert SECRET not in text(answer)


def test_a_look_that_finds_nobody_is_told_and_is_a_line_too(ann: Client, broker: Listening) -> None:
    answer = ann.get(f"{PAGE}?place=last&partition=7&format=json")
    assert (answer.status_code, answer.json()["error"]) == (
        502,
        "Nothing was fetched: nothing is known of partition 7 of orders.",
    )
    assert lines()[-1][1]["refused"] == "nothing is known of partition 7 of orders"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("place=middle", "“middle” is no place in a log: write place=last, from, before or time."),
        ("place=from", "Which offset? Write place=from with an offset, as offset=1200."),
        ("place=from&offset=-1", "“-1” is no offset: write a number from 0 to 9223372036854775807."),
        (
            "place=time&time=soon",
            "“soon” is no time: write UTC, as 2026-11-20T10:42Z, or epoch milliseconds.",
        ),
        ("place=last&count=501", "“501” is no count: write a number from 1 to 500."),
        ("place=last&partition=x", "“x” is no partition: write a number from 0 to 2147483647."),
    ],
)
def test_what_is_not_understood_looks_at_nothing(
    ann: Client, broker: Listening, query: str, sentence: str
) -> None:
    answer = ann.get(f"{PAGE}?{query}&format=json")
    assert (answer.status_code, answer.json()["error"]) == (400, sentence)
    page = ann.get(f"{PAGE}?{query}")
    assert page.status_code == 400
    assert sentence in text(page)
    assert (broker.connections, lines()) == (0, [])


@pytest.mark.parametrize("time", ["1795171327123", "2026-11-20T10:42Z", "2026-11-20T12:42:00%2B02:00"])
def test_a_time_is_written_as_anywhere(ann: Client, site: Settings, broker: Listening, time: str) -> None:
    asked: list[int] = []

    def times(at: int) -> int:
        asked.append(at)
        return 2

    broker.behaviour = Partition(LOG, times=times)
    assert looked(ann, f"place=time&time={time}")["from"] == 2
    assert asked[0] // 60_000 == 1795171327123 // 60_000


def test_the_past_has_no_messages(ann: Client) -> None:
    answer = ann.get(f"{PAGE}?place=last&at=-5m")
    assert answer.status_code == 400
    assert "Messages are those of now" in text(answer)


def test_brokers_that_are_not_asked_have_none_either(ann: Client, site: Settings, broker: Listening) -> None:
    site.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),), ask_brokers=False),)
    answer = ann.get(f"{PAGE}?place=last")
    assert answer.status_code == 409
    assert "ask_brokers = false" in text(answer)
    assert broker.connections == 0


def test_a_topic_that_is_not_there_is_told(ann: Client) -> None:
    assert ann.get("/c/demo/topics/nope/messages/").status_code == 404


def test_one_person_has_one_look_at_once_and_all_so_many(
    ann: Client, site: Settings, broker: Listening, transactional_db: None
) -> None:
    entered, go_on = threading.Event(), threading.Event()
    log = Partition(LOG)

    def waits(asked: Asked) -> bytes:
        entered.set()
        assert go_on.wait(60)
        return log(asked)

    site.ZKDASH_MESSAGES = Messages(clusters=("demo",), looks=1, seconds=60)
    broker.behaviour = waits
    bob = person("bob")
    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.append(ann.get(f"{PAGE}?place=last").status_code))
    thread.start()
    try:
        assert entered.wait(60)
        mine, others = ann.get(f"{PAGE}?place=last"), bob.get(f"{PAGE}?place=last")
    finally:
        go_on.set()
        thread.join(60)
    assert (mine.status_code, others.status_code, answers) == (503, 503, [200])
    assert "Another look of yours is under way" in text(mine)
    assert "1 people look at messages now" in text(others)
    assert mine["Retry-After"]
    assert bob.get(f"{PAGE}?place=last").status_code == 200


def test_answers_are_kept_by_nobody(ann: Client) -> None:
    for query in ("", "?place=last", "?place=last&format=json"):
        assert ann.get(PAGE + query)["Cache-Control"] == "private, no-store"
