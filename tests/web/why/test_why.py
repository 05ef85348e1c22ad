"""Why is this so: the story of a partition, a topic, a group or a broker, from memory and tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.history.writing import put
from tests.web import states
from tests.web.markup import Markup
from zkdash import live
from zkdash.actions.reading.entries import Entry
from zkdash.actions.states import State
from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import Incidents, fold, in_order
from zkdash.live.feed import Feed
from zkdash.live.queue import Queue

URL: Final = "/c/demo/why/"
OF: Final = "topic=orders&partition=1"
TIME: Final = 1_760_000_400_000
STATE: Final = "/brokers/topics/orders/partitions/1/state"
LEFT: Final = -0x1122_3344_5566_7788


@pytest.fixture(autouse=True)
def history(tmp_path: Path, settings: Settings) -> Path:
    """Where the tables of the cluster demo lie; it is on the board."""
    settings.ZKDASH_HISTORY = tmp_path
    states.publish({**states.sick(), **states.group("billing", {"billing_h-1-00000000": ["orders"]})})
    return tmp_path / "demo"


def document(query: str = OF) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(Client().get(f"{URL}?{query}&format=json").content)
    return answer


def whats(query: str = OF) -> list[str]:
    return [row["what"] for row in document(query)["rows"]]


def row(at: int, what: str, path: str, **of: Any) -> dict[str, Any]:
    """One change as the table `timeline` has it, of transaction `at`."""
    given = {"time": TIME + at, "zxid": at, "op_index": 0, "area": "topics", "before": "3", "after": "1"}
    return {**given, "what": what, "path": path, **of}


def moved(at: int, partition: int = 1) -> dict[str, Any]:
    what = f"partition orders-{partition} leader moved from broker 3 to 1"
    path = f"/brokers/topics/orders/partitions/{partition}/state"
    return row(at, what, path, topic="orders", partition=partition)


def went(at: int) -> dict[str, Any]:
    said = {"area": "brokers", "before": "h:9092", "after": None, "broker": 3}
    return row(at, "broker 3 went away", "/brokers/ids/3", **said)


def change(told: dict[str, Any], **fields: Any) -> Change:
    """The same as a watcher has it."""
    area, what, before, after = (told[name] for name in ("area", "what", "before", "after"))
    made = Change(told["time"], area, what, before, after, told["path"], told["zxid"])
    return msgspec.structs.replace(made, **fields)


def watched(*readings: tuple[Change, ...], loaded: int = 100, **fields: Any) -> None:
    """A watcher that loaded at a transaction, and what each later reading changed."""
    feed, incidents = Feed().loaded(loaded), Incidents()
    for number, changes in enumerate(readings):
        feed = feed.told(loaded + 1 + number, changes[::-1])
        incidents = fold(incidents, in_order(changes))
    snapshot = states.publish(states.sick())
    live.publish("demo", msgspec.structs.replace(snapshot, feed=feed, incidents=incidents, **fields))


def test_a_broker_that_went_is_why_a_partition_is_led_by_another(history: Path) -> None:
    put(history, "timeline", [went(20), moved(21), moved(22, partition=0)])
    told = document()
    assert [row["what"] for row in told["rows"]] == ["partition orders-1 leader moved from broker 3 to 1"]
    assert told["rows"][0]["incident"] == "Broker 3 is gone"
    assert [incident["title"] for incident in told["incidents"]] == ["Broker 3 is gone"]
    page = Markup(Client().get(f"{URL}?{OF}"))
    assert page.text("h1") == "Why is partition 1 of topic orders so?"
    (story,) = page.all("#earlier .story")
    (told_of,) = story.xpath(".//summary")
    assert " ".join(told_of.text_content().split()) == "1 of 3 changes of partition 1 of topic orders"
    assert "2 leaders moved to 1" in story.text_content()
    ways = {link.text: link.get("href") for link in story.xpath(".//a")}
    before, during = (urlsplit(ways[name]) for name in ("before", "during"))
    assert before.path == "/c/demo/topics/orders/"
    assert parse_qs(before.query) == {"q": ["1"], "at": ["zxid:0x13"]}
    assert parse_qs(during.query)["at"] == ["latest"]  # it is open
    assert "after" not in ways
    assert parse_qs(urlsplit(ways["what differs"]).query) == {
        "topic": ["orders"],
        "partition": ["1"],
        "from": ["zxid:0x13"],
        "at": ["latest"],
    }


def test_what_ended_leads_to_the_moment_after_it_and_halfway_through(history: Path) -> None:
    back = row(90_000, "broker 3 registered", "/brokers/ids/3", area="brokers", before=None, broker=3)
    put(history, "timeline", [went(20), moved(21), back])
    (story,) = Markup(Client().get(f"{URL}?broker=3")).all("#earlier .story")
    ways = {link.text: parse_qs(urlsplit(link.get("href")).query) for link in story.xpath(".//a")}
    assert ways["during"]["at"] == ["2025-10-09T09:00:45.010Z"]
    assert ways["after"]["at"] == ["2025-10-09T09:01:30.000Z"]


def test_between_memory_and_tables_nothing_is_twice_and_nothing_is_missing(history: Path) -> None:
    """The tables reach beyond where memory begins, and know the transaction of what memory saw go."""
    put(history, "timeline", [moved(98), moved(100), moved(101), went(102)])
    watched((change(moved(101)),), (change(went(102), zxid=None),))
    assert whats() == ["partition orders-1 leader moved from broker 3 to 1"] * 3
    assert [row["zxid"] for row in document()["rows"]] == [101, 100, 98]
    page = Markup(Client().get(f"{URL}?{OF}"))
    assert len(page.all("#kept .story")) == 1
    (leaders,) = page.all("#earlier .story")
    assert len(leaders.xpath(".//li")) == 2
    assert whats("broker=3") == ["broker 3 went away"]


def test_an_incident_that_memory_keeps_has_its_first_changes_where_the_feed_forgot_them(
    history: Path,
) -> None:
    """It is one story, though half of it is to be had from the tables alone."""
    first, second = moved(102), {**moved(103), "what": "partition orders-1 lost replica 3 from ISR"}
    put(history, "timeline", [went(101), first, second])
    watched((change(went(101), zxid=None),), (change(first),), (change(second),))
    snapshot = live.current("demo")
    assert snapshot is not None
    begins = snapshot.feed.news[1].place
    forgot = msgspec.structs.replace(snapshot.feed, begins=begins, news=snapshot.feed.news[2:])
    live.publish("demo", msgspec.structs.replace(snapshot, feed=forgot))
    page = Markup(Client().get(f"{URL}?{OF}"))
    (story,) = page.all("#kept .story")
    assert len(story.xpath(".//li")) == 2
    assert page.all("#earlier .story") == []
    assert {row["incident"] for row in document()["rows"]} == {"Broker 3 is gone"}


def test_it_says_who_wrote_where_a_log_tells_and_that_nobody_knows_where_none_does(history: Path) -> None:
    put(history, "timeline", [went(20), moved(21), moved(30)])
    logged = {"source": "txnlog", "op_index": 0, "time": TIME, "zxid_after": 1, "zxid_upto": 20}
    put(
        history,
        "changes",
        [
            {**logged, "zxid": 2, "type": "create", "path": "/brokers/ids/1", "ephemeral_owner": 0xABC},
            {**logged, "zxid": 3, "type": "create", "path": "/brokers/ids/3", "ephemeral_owner": LEFT},
            {**logged, "zxid": 20, "type": "closeSession", "path": "/brokers/ids/3", "session": LEFT},
            {**logged, "zxid": 21, "type": "setData", "path": STATE, "session": 0xABC},
        ],
    )
    newer, older = document()["rows"]
    assert (newer["written_by"], older["written_by"]) == (None, "broker 1 (session 0xabc)")
    assert newer["written_by_reason"].startswith("no log of ZooKeeper that was read")
    (gone,) = document("broker=3")["rows"]
    assert gone["written_by"] == "the end of broker 3 (session 0xeeddccbbaa998878)"
    page = Markup(Client().get(f"{URL}?{OF}"))
    links = [link for link in page.all("#earlier a") if "session" in (link.text or "")]
    assert [link.get("href") for link in links] == ["/c/demo/sessions/0xabc/"]


def test_an_action_of_ours_is_told_with_its_author() -> None:
    config = row(101, "the config of topic orders changed", "/config/topics/orders", after="retention.ms=1")
    entry = Entry(*(7, 9, "demo", "change-config", "orders", State.DONE, "alice", TIME), zxids=(101,))
    watched((change(config),), queue=Queue(entries=(entry,)))
    told = document("topic=orders")
    assert told["rows"][0]["action"] == 7
    page = Markup(Client().get(f"{URL}?topic=orders"))
    assert "by alice (action 7)" in " ".join(page.text("#kept .headline").split())


def test_what_was_too_much_to_be_told_one_by_one_is_told_of_its_topics() -> None:
    flood = Change(
        TIME,
        "topics",
        "the states of 900 partitions changed",
        None,
        None,
        "/brokers/topics",
        101,
        topics=frozenset({"orders"}),
    )
    watched((flood,))
    assert whats() == whats("topic=orders") == ["the states of 900 partitions changed"]
    assert whats("topic=other") == []


def test_how_it_is_stands_above_its_story() -> None:
    so = " ".join(Markup(Client().get(f"{URL}?{OF}")).text("#so").split())
    assert "leader" in so
    assert "ISR" in so
    told = document()["of"]
    assert told["what"] == "partition 1 of topic orders"
    assert told["status"] in {"ok", "info", "warning", "critical"}
    gone = document("topic=none&partition=4")["of"]
    assert (gone["status"], gone["status_reason"]) == (None, "it is not there")
    assert Markup(Client().get(f"{URL}?topic=none")).text("#so") == "It is not there."


def test_older_changes_are_a_page_further_until_there_are_none(history: Path) -> None:
    put(history, "timeline", [moved(at * 60_000) for at in range(1, 121)])
    seen, address = [], f"{URL}?{OF}&format=json"
    while address:
        answer = json.loads(Client().get(address).content)
        seen += [told["zxid"] for told in answer["rows"]]
        address = answer["older"]
    assert seen == [at * 60_000 for at in range(120, 0, -1)]


def test_without_a_thing_it_asks_for_one_and_without_a_story_it_says_so() -> None:
    page = Markup(Client().get(URL))
    assert [field.get("name") for field in page.all("main form input")] == [
        "topic",
        "partition",
        "group",
        "broker",
    ]
    assert document("")["rows"] == []
    assert (
        Markup(Client().get(f"{URL}?{OF}")).text("#earlier") == "Nothing is kept in memory or recorded of it."
    )


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("broker=x", "“x” is not a broker’s id."),
        ("topic=orders&partition=x", "“x” is not the number of a topic’s partition."),
        ("partition=1", "A partition is one of a topic: name that too."),
        ("topic=orders&group=billing", "Of one thing at a time: group is left out."),
        ("topic=orders&before=9", "“9” is no place in the story"),
        ("x=1", "“x” is not a parameter of this page."),
    ],
)
def test_what_is_not_understood_is_said(query: str, said: str) -> None:
    assert said in document(query)["notes"][0]


@pytest.mark.parametrize("name", ["%00", "%ED%A0%80", "%3Cb%3E", "a'%20OR%20true--"])
def test_a_hostile_name_finds_nothing(history: Path, name: str) -> None:
    put(history, "timeline", [moved(1)])
    assert whats(f"topic={name}") == whats(f"group={name}") == []


@pytest.mark.parametrize(
    ("address", "of"),
    [
        ("topics/orders/", "topic=orders"),
        ("topics/orders/", "topic=orders&partition=1"),
        ("groups/billing/", "group=billing"),
        ("brokers/1/", "broker=1"),
    ],
)
def test_a_page_and_each_partition_lead_to_their_story(address: str, of: str) -> None:
    assert f"{URL}?{of}" in [
        link.get("href") for link in Markup(Client().get(f"/c/demo/{address}")).all("main a")
    ]


def test_csv_has_the_changes(history: Path) -> None:
    put(history, "timeline", [went(20), moved(21)])
    head, line = Client().get(f"{URL}?{OF}&format=csv").content.decode().splitlines()
    assert head.startswith("when,area,what,before,after,path,zxid,incident,written_by,action")
    assert "Broker 3 is gone" in line


def test_moments_to_compare_lead_from_any_page_to_the_differences_of_what_it_is_about() -> None:
    for address, of in (
        ("topics/orders/?q=1&", {"topic": ["orders"]}),
        ("groups/billing/?", {"group": ["billing"]}),
        ("brokers/1/?", {"broker": ["1"]}),
        ("znodes/brokers/ids?", {"path": ["/brokers/ids"]}),
        (f"why/?{OF}&", {"topic": ["orders"], "partition": ["1"]}),
        ("topics/?", {"area": ["topics"]}),
        ("?", {}),
    ):
        answer = Client().get(f"/c/demo/{address}from=-15m&at=latest&format=json")
        assert answer.status_code == 302
        where = urlsplit(answer["Location"])
        assert where.path == "/c/demo/differences/"
        assert parse_qs(where.query) == {"from": ["-15m"], "at": ["latest"], "format": ["json"], **of}
