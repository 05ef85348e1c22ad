"""The Timeline page, and the way to it from a topic, a broker and a group."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
from zkdash.cluster.incidents import Incidents, fold
from zkdash.live.feed import Feed
from zkdash.live.queue import Queue
from zkdash.znode import Znode

URL = "/c/demo/timeline/"
TIME = 1_760_000_400_000


@pytest.fixture(autouse=True)
def history(tmp_path: Path, settings: Settings) -> Path:
    """Where the tables of the cluster demo lie; it is on the board."""
    settings.ZKDASH_HISTORY = tmp_path
    states.publish({**states.healthy(), **states.group("billing", {"billing_h-1-00000000": ["orders"]})})
    return tmp_path / "demo"


def said(at: int, **of: Any) -> dict[str, Any]:
    told = {"time": TIME + at, "zxid": at, "op_index": 0, "area": "topics", "path": "/brokers/topics/orders"}
    return {**told, "what": f"change {at}", "before": None, "after": "1, 2", **of}


def document(query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get(f"{URL}?{query}&format=json").content)
    return found


def whats(query: str = "") -> list[str]:
    return [row["what"] for row in document(query)["rows"]]


def test_without_a_table_it_says_where_changes_come_from(history: Path) -> None:
    page = Markup(Client().get(URL))
    assert page.text("#recorded-rows") == "Nothing is recorded of this cluster yet."
    assert document()["recorded_up_to"] is None


def test_each_thing_has_its_changes_and_how_far_they_are_recorded_is_said(history: Path) -> None:
    put(history, "timeline", [said(1, topic="orders"), said(2, broker=1), said(3, group="billing")])
    assert whats("topic=orders") == ["change 1"]
    assert whats("broker=1") == ["change 2"]
    assert whats("group=billing") == ["change 3"]
    assert whats("topic=none") == []
    assert document("topic=orders")["recorded_up_to"] == "2025-10-09T09:00:00.003Z"
    page = Markup(Client().get(f"{URL}?topic=none"))
    assert page.text("#recorded-rows") == "Nothing of it changed in what is recorded."
    assert "Recorded up to 2025-10-09 09:00:00" in page.text("#recorded")


def test_a_transaction_is_written_as_zookeeper_writes_it_and_leads_to_the_cluster_after_it(
    history: Path,
) -> None:
    put(history, "timeline", [said(1, zxid=0x500000012)])
    (link,) = Markup(Client().get(URL)).root.xpath("//tbody[@id='recorded-rows']//a[text()='0x500000012']")
    assert link.get("href") == "/c/demo/?at=zxid%3A0x500000012"
    assert [row["zxid"] for row in document()["rows"]] == [0x500000012]


def test_older_ones_are_a_page_further_until_there_are_none(history: Path) -> None:
    put(history, "timeline", [said(at, topic="orders") for at in range(1, 121)])
    seen, address = [], f"{URL}?topic=orders"
    for _ in range(3):
        page = Markup(Client().get(address))
        seen += page.texts("#recorded-rows tr")
        older = [link for link in page.all("nav.pager a") if link.text == "Older"]
        address = older[0].get("href") if older else ""
    assert address == ""
    assert len(seen) == 120
    assert "change 120—" in seen[0]
    assert "change 1—" in seen[-1]


@pytest.mark.parametrize(
    ("address", "of"),
    [("topics/orders/", "topic=orders"), ("brokers/1/", "broker=1"), ("groups/billing/", "group=billing")],
)
def test_a_page_leads_to_the_timeline_of_what_it_is_about(address: str, of: str) -> None:
    page = Markup(Client().get(f"/c/demo/{address}"))
    (box,) = page.root.xpath("//h2[@id='timeline']/following-sibling::div[1][@hx-get]")
    assert box.get("hx-get") == f"{URL}?{of}&most=20"
    (link,) = box.xpath(".//a")
    assert link.get("href") == f"{URL}?{of}"


def test_the_newest_part_is_short(history: Path) -> None:
    put(history, "timeline", [said(at, topic="orders") for at in range(1, 60)])
    assert len(whats("topic=orders&most=20")) == 20
    assert "most=" not in document("topic=orders&most=20")["older"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("broker=x", "“x” is not a broker’s id."),
        ("before=9", "“9” is no place in the timeline"),
        ("most=9", "“9” is no length of this page"),
        ("x=1", "“x” is not a parameter of this page."),
        ("area=x", "“x” is not an area"),
        ("from=x", "“x” is not a time"),
        ("&".join(f"a{at}=1" for at in range(30)), "none of them is read"),
    ],
)
def test_what_is_not_understood_is_said(query: str, said: str) -> None:
    assert said in document(query)["notes"][0]


@pytest.mark.parametrize("name", ["%00", "%ED%A0%80", "%3Cb%3E", "a'%20OR%20true--"])
def test_a_hostile_name_finds_nothing(history: Path, name: str) -> None:
    put(history, "timeline", [said(1, topic="orders")])
    assert whats(f"topic={name}") == []
    assert whats(f"group={name}") == []


def seen(at: int, zxid: int | None, what: str, path: str = "/brokers/topics/orders") -> Change:
    return Change(TIME + at, "topics", what, None, "x", path, zxid)


def watched(*readings: tuple[int, tuple[Change, ...]], loaded: int = 100) -> None:
    """A watcher that loaded at a transaction, and what each reading after that changed."""
    feed = Feed().loaded(loaded)
    for zxid, changes in readings:
        feed = feed.told(zxid, changes[::-1])
    snapshot = states.publish(states.healthy())
    live.publish("demo", msgspec.structs.replace(snapshot, feed=feed))


def test_between_memory_and_tables_nothing_is_twice_and_nothing_is_missing(history: Path) -> None:
    """The tables reach beyond where memory begins, and know the transaction of what memory saw go."""
    put(history, "timeline", [said(at, zxid=at, topic="orders") for at in (98, 99, 100, 101, 102)])
    watched((101, (seen(101, 101, "change 101"),)), (102, (seen(102, None, "change 102"),)))
    assert whats() == [f"change {at}" for at in (102, 101, 100, 99, 98)]
    page = Markup(Client().get(URL))
    assert len(page.all("#latest-rows tr")) == 2
    assert len(page.all("#recorded-rows tr")) == 3


def test_memory_is_paged_as_tables_are(history: Path) -> None:
    put(history, "timeline", [said(at, zxid=at) for at in range(1, 41)])
    watched(*((at, (seen(at, at, f"change {at}"),)) for at in range(101, 181)))
    found, address = [], f"{URL}?format=json"
    while address:
        answer = json.loads(Client().get(address).content)
        found += [row["what"] for row in answer["rows"]]
        address = answer["older"]
    assert found == [f"change {at}" for at in (*range(180, 100, -1), *range(40, 0, -1))]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("topic=orders", ["partition orders-1 has no leader", "topic orders was deleted"]),
        ("broker=3", ["broker 3 went away"]),
        ("group=billing", ["consumer c left group billing"]),
        ("area=brokers", ["broker 3 went away"]),
        ("q=WENT", ["broker 3 went away"]),
        ("path=/brokers/ids/3", ["broker 3 went away"]),
        (
            "from=2025-10-09T09:00:00.002Z&to=2025-10-09T09:00:00.004Z",
            ["consumer c left group billing", "broker 3 went away"],
        ),
    ],
)
def test_what_memory_has_is_filtered_as_tables_are(query: str, found: list[str]) -> None:
    changes = (
        seen(1, None, "topic orders was deleted"),
        msgspec.structs.replace(seen(2, None, "broker 3 went away", "/brokers/ids/3"), area="brokers"),
        seen(3, None, "consumer c left group billing", "/consumers/billing/ids/c"),
        seen(4, 105, "partition orders-1 has no leader", "/brokers/topics/orders/partitions/1/state"),
    )
    watched((105, changes))
    assert whats(query) == found


def lane(page: Markup, name: str) -> list[tuple[str, int, int]]:
    (found,) = page.root.xpath(f"//section[@id='lanes']//div[dt/bdi='{name}']")
    return [
        (piece.get("class"), int(piece.get("data-from")), int(piece.get("data-to")))
        for piece in found.iter("rect")
    ]


HALF_PAST_8, HALF_PAST_9 = 1_759_998_600_000, 1_760_002_200_000
AROUND = "from=2025-10-09T08:30Z&to=2025-10-09T09:30Z"


def test_lanes_tell_when_a_broker_was_away_and_lead_closer(history: Path) -> None:
    made = TIME - 600_000
    gone = Change(TIME, "brokers", "broker 3 went away", "h", None, "/brokers/ids/3", None, 1, since=made)
    back = Change(TIME + 60_000, "brokers", "broker 3 registered", None, "h", "/brokers/ids/3", 7, 2)
    tree = states.healthy()
    registered = tree["/brokers/ids/3"]
    assert isinstance(registered, Znode)
    tree["/brokers/ids/3"] = Znode.of(
        registered.data, registered.stat._replace(ctime=TIME + 60_000, mtime=TIME + 60_000)
    )
    states.publish(tree, incidents=fold(Incidents(), (gone, back)))
    page = Markup(Client().get(f"{URL}?{AROUND}"))
    assert lane(page, "broker 3") == [
        ("unknown", HALF_PAST_8, made),
        ("up", made, TIME),
        ("down", TIME, TIME + 60_000),
        ("up", TIME + 60_000, HALF_PAST_9),
    ]
    moves = {link.text: link.get("href") for link in page.all("#lanes .moves a")}
    assert list(moves) == ["Earlier", "Zoom in", "Zoom out", "Later", "Last hour"]
    assert "from=2025-10-09T08%3A52%3A30" in moves["Zoom in"]


def test_lanes_claim_nothing_of_before_the_registration_that_is_there(history: Path) -> None:
    """The broker and the controller registered later than the window: of that nobody knows."""
    assert len(Markup(Client().get(f"{URL}?{AROUND}")).all("#lanes dt")) == 0
    states.publish(states.healthy())
    around = "from=2026-11-20T10:12:07Z&to=2026-11-20T11:12:07Z"
    page = Markup(Client().get(f"{URL}?{around}"))
    begin, end = 1_795_169_527_000, 1_795_173_127_000
    states_now = [("unknown", begin, states.TIME), ("up", states.TIME, end)]
    assert lane(page, "broker 1") == states_now
    assert lane(page, "controller") == states_now
    assert page.texts("#lanes .names text") == ["2"]
    (told,) = page.root.xpath("//section[@id='lanes']//div[dt/bdi='broker 1']//svg/@aria-label")
    assert told == "broker 1: there, not known before 2026-11-20T10:42:07.123Z"


def test_lanes_of_before_this_process_come_from_the_tables(history: Path) -> None:
    minute = TIME - TIME % 60_000
    covered = {"from_ms": HALF_PAST_8 + 60_000, "to_ms": TIME + 240_000, "from_zxid": 1, "to_zxid": 90}
    put(history, "covered_times", [covered])
    session = {"broker": 9, "session": 5, "from_zxid": 3, "to_zxid": 4, "ended": "session"}
    put(
        history,
        "broker_sessions",
        [
            session | {"from_ms": TIME - 600_000, "to_ms": TIME - 60_000},
            session | {"from_ms": TIME, "to_ms": TIME + 120_000},
        ],
    )
    put(
        history,
        "under_replicated_minutes",
        [
            {
                "minute": minute,
                "partitions": 7,
                "partition_seconds": 9.0,
                "offline_partitions": 0,
                "offline_seconds": 0.0,
            }
        ],
    )
    put(
        history,
        "rebalances",
        [
            {
                "group": "billing",
                "from_ms": TIME,
                "to_ms": TIME + 5_000,
                "from_zxid": 8,
                "to_zxid": 9,
                "topics": ["orders"],
                "moved": 12,
                "members_before": 3,
                "members_after": 2,
                "cause": "member left",
            }
        ],
    )
    page = Markup(Client().get(f"{URL}?{AROUND}"))
    assert lane(page, "broker 9") == [
        ("unknown", HALF_PAST_8, TIME - 600_000),
        ("up", TIME - 600_000, TIME - 60_000),
        ("down", TIME - 60_000, TIME),
        ("up", TIME, TIME + 120_000),
        ("unknown", TIME + 120_000, HALF_PAST_9),
    ]
    labels = page.root.xpath("//section[@id='lanes']//svg/@aria-label")
    assert "billing: 1 stretch; 12 moved, member left, with gaps that nobody knows" in labels
    assert lane(page, "billing") == [
        ("unknown", HALF_PAST_8, HALF_PAST_8 + 60_000),
        ("unknown", TIME + 240_000, HALF_PAST_9),
        ("moved", TIME, TIME + 5_000),
    ]
    (told,) = [label for label in labels if label.startswith("under-replicated")]
    assert told == "under-replicated: at most 7, with gaps that nobody knows"
    assert [kind for kind, *_ in lane(page, "under-replicated")] == ["unknown", "unknown"]


def test_incidents_of_before_this_process_are_folded_from_the_tables(history: Path) -> None:
    went = {
        "what": "broker 3 went away",
        "before": "h",
        "after": None,
        "path": "/brokers/ids/3",
        "area": "brokers",
    }
    put(history, "timeline", [said(1, **went), said(120, **went)])
    watched(loaded=100)
    assert [row["title"] for row in document()["incidents"]] == ["Broker 3 is gone"]
    assert Markup(Client().get(URL)).text("#earlier .headline").endswith("Broker 3 is gone")


def test_a_rebalance_of_the_tables_that_went_quiet_is_over(history: Path) -> None:
    joined = {
        "what": "consumer billing_h-1 joined billing",
        "path": "/consumers/billing/ids/billing_h-1",
        "area": "groups",
        "group": "billing",
    }
    put(history, "timeline", [said(1, **joined)])
    watched(loaded=100)
    (row,) = document()["incidents"]
    assert (row["title"], row["status"]) == ("billing rebalanced", "ok")
    assert row["ended"] is not None
    assert "still open" not in Markup(Client().get(URL)).text("#earlier")


def test_the_lane_of_actions_claims_nothing_of_before_the_oldest_that_is_at_hand(history: Path) -> None:
    entry = Entry(
        *(7, 9, "demo", "create-topic", "new", State.DONE, "alice", TIME),
        started=TIME + 1_000,
        ended=TIME + 9_000,
    )
    states.publish(states.healthy(), queue=Queue(entries=(entry,), read=True))
    ran = ("action", TIME + 1_000, TIME + 9_000)
    assert lane(Markup(Client().get(f"{URL}?{AROUND}")), "actions") == [ran]
    states.publish(states.healthy(), queue=Queue(entries=(entry,), read=True, more=True))
    page = Markup(Client().get(f"{URL}?{AROUND}"))
    assert lane(page, "actions") == [("unknown", HALF_PAST_8, TIME), ran]
    (told,) = page.root.xpath("//section[@id='lanes']//div[dt/bdi='actions']//svg/@aria-label")
    assert told == "actions: 1 stretch, not known before 2025-10-09T09:00:00.000Z"
