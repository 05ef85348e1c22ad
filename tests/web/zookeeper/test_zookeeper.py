"""The ZooKeeper page: servers, sentences, quotas, and what zkdash itself costs."""

from __future__ import annotations

import csv
import json
from typing import Any

import msgspec
import pytest
from django.test import Client

from tests.web import states
from tests.web.drawing import reading
from tests.web.markup import Markup
from zkdash import live
from zkdash.cluster.ensemble import health
from zkdash.cluster.ensemble.values import Ensemble, Thresholds
from zkdash.formats.ensemble.values import (
    Footprint,
    Look,
    Member,
    Membership,
    Quota,
    Reach,
    Server,
    Told,
)
from zkdash.live.parts import PageKey, Table
from zkdash.live.recent_numbers import Numbers
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.serving import renderer
from zkdash.web.zookeeper import zookeeper

URL = "/c/demo/zookeeper/"
LEADER = Server(
    "zk1:2181",
    Reach.SERVING,
    told=Told(
        "3.9.5",
        "leader",
        0.0,
        1.25,
        45.0,
        connections=7,
        outstanding=0,
        zxid=0x100000010,
        znodes=12_345,
        watches=3,
        learners=1,
        synced_followers=1,
        pending_syncs=0,
    ),
    is_read_only=False,
    myid=1,
    is_voter=True,
)
FOLLOWER = Server(
    "zk2:2181",
    Reach.SERVING,
    told=Told("3.9.5", "follower", zxid=0x10000000D),
    refused=("mntr",),
    myid=2,
    is_voter=True,
)
DOWN = Server("zk3:2181", Reach.DOWN, "zk3:2181 can't be reached (Connection refused)", myid=3, is_voter=True)
MEMBERS = Membership(tuple(Member(number, f"zk{number}", is_voter=True) for number in (1, 2, 3)), version=0)
LOOK = Look(
    states.TIME / 1000,
    (LEADER, FOLLOWER, DOWN),
    MEMBERS,
    (Quota("/kafka", znodes=10, used_znodes=12, bytes=None, used_bytes=77),),
    Footprint(requests=1.5, events=0.25, received=2048.0, over_s=10.0),
)


def seen(look: Look) -> Ensemble:
    return Ensemble(look, health.examine(health.History(), look, Thresholds())[1])


def publish(look: Look = LOOK, **session: Any) -> None:
    made = states.publish(states.healthy(), **session)
    live.publish("demo", msgspec.structs.replace(made, ensemble=seen(look)))


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get(URL, {"format": "json"}).content)
    return found


@pytest.fixture(autouse=True)
def _database(db: None) -> None: ...


def test_every_server_is_told_with_what_it_said() -> None:
    publish()
    rows = {row["server"]: row for row in document()["rows"]}
    assert list(rows) == ["zk1:2181", "zk2:2181", "zk3:2181"]
    leader = rows["zk1:2181"]
    assert (leader["mode"], leader["version"], leader["zxid"], leader["behind"]) == (
        "leader",
        "3.9.5",
        "0x100000010",
        0,
    )
    assert (leader["latency_avg"], leader["znodes"], leader["synced_followers"]) == (1.25, 12_345, 1)
    assert rows["zk2:2181"]["behind"] == 3


def test_the_ensemble_is_drawn_as_its_table_tells_it_the_leader_first() -> None:
    publish(msgspec.structs.replace(LOOK, servers=(DOWN, FOLLOWER, LEADER)))
    rows = {row["server"]: row for row in document()["rows"]}
    page = Markup(Client().get(URL))
    tiles = page.all("#ensemble-map li")
    assert [tile.get("data-server") for tile in tiles] == ["zk1:2181", "zk2:2181", "zk3:2181"]
    assert ["♛" in tile.text_content() for tile in tiles] == [True, False, False]
    assert ["gone" in tile.get("class") for tile in tiles] == [False, False, True]
    for tile in tiles:
        row = rows[tile.get("data-server")]
        measures = tile.xpath("span[@class='measure']")
        for measure, name in zip(measures, ("behind", "latency_avg"), strict=True):
            pictures = list(measure.iter("svg"))
            shown = [reading.bar(picture)[0] for picture in pictures]
            assert shown == ([] if row[name] is None else [pytest.approx(row[name], abs=0.01)])
            assert pictures or measure.get("title")


def test_the_last_hour_of_a_servers_latency_is_drawn_as_it_was_told() -> None:
    at = states.TIME // 1000
    told = {0: 1.0, 60: None, 120: 4.5, 180: 1.25}
    recent = tuple(
        Numbers(at=at - 180 + after, latencies=() if ms is None else (("zk1:2181", ms),))
        for after, ms in told.items()
    )
    live.publish(
        "demo", msgspec.structs.replace(states.publish(states.healthy()), ensemble=seen(LOOK), recent=recent)
    )
    tiles = {tile.get("data-server"): tile for tile in Markup(Client().get(URL)).all("#ensemble-map li")}
    (picture,) = tiles["zk1:2181"].xpath("svg")
    (line,) = picture.xpath("g/path[@class='line-1']")
    drawn = reading.points(line, 4, float(picture.get("data-top")))
    assert drawn[1] is None
    assert [drawn[0], *drawn[2:]] == pytest.approx([1.0, 4.5, 1.25], abs=0.01)
    assert picture.get("aria-label") == (
        "latency of zk1:2181 in the last hour: from 1 to 4.5 ms; known of 3 of 60 minutes"
    )
    leader = next(row for row in document()["rows"] if row["server"] == "zk1:2181")
    assert drawn[-1] == pytest.approx(leader["latency_avg"], abs=0.01)
    assert tiles["zk2:2181"].xpath("svg") == []


def test_what_a_server_did_not_tell_is_unknown_with_the_reason() -> None:
    publish()
    rows = {row["server"]: row for row in document()["rows"]}
    assert rows["zk2:2181"]["znodes"] is None
    assert rows["zk2:2181"]["znodes_reason"] == "it does not allow mntr"
    assert rows["zk2:2181"]["synced_followers_reason"] == "only a leader has it"
    assert rows["zk3:2181"]["mode_reason"] == "zk3:2181 can't be reached (Connection refused)"
    assert rows["zk3:2181"]["status"] == "critical"


def test_the_page_says_what_is_wrong_worst_first() -> None:
    publish()
    page = Markup(Client().get(URL))
    said = page.texts("ul#ailments li")
    assert said == [
        "▲ warning 2 of 3 voters are in sync, just a majority: one failure more and nothing can be written.",
        "▲ warning 1 of 2 followers are in sync with the leader zk1:2181.",
        "▲ warning zk3:2181 can't be reached (Connection refused).",
        "● info zk2:2181 does not allow mntr: allow it srvr, mntr and isro by 4lw.commands.whitelist.",
    ]
    assert "1 leader, 1 follower, 1 down" in page.text("section#facts")


def test_quotas_and_our_own_footprint_are_told() -> None:
    publish(server="zk2:2181", watches=12)
    found = document()
    assert found["quotas"] == [
        {
            "path": "/kafka",
            "znodes": 10,
            "bytes": None,
            "hard_znodes": None,
            "hard_bytes": None,
            "used_znodes": 12,
            "used_bytes": 77,
        }
    ]
    assert found["footprint"] == {
        "watches": 12,
        "watched_bytes": 3780,
        "requests": 1.5,
        "events": 0.25,
        "received": 2048.0,
        "over_s": 10.0,
    }
    page = Markup(Client().get(URL))
    facts = page.text("section#facts")
    assert "zkdash watches 12, about 3 780 bytes of heap zkdash asks 1.50 requests a second" in facts
    assert "zkdash is told 0.25 watch events" in facts
    assert "zkdash receives 2 048 bytes a second" in facts
    assert page.texts("tbody#quotas-rows td")[:2] == ["12", "10"]


def test_before_the_first_round_nothing_is_claimed() -> None:
    states.publish(states.healthy())
    page = Markup(Client().get(URL))
    assert page.texts("ul#ailments li") == ["? unknown The servers have not been asked yet."]
    assert page.text("tr#servers-rows-empty") == "The servers have not been asked yet."
    assert "✓" not in page.text("section#facts")
    assert document()["asked"] is None


def test_an_ensemble_without_fault_says_so() -> None:
    followers = tuple(
        Server(f"zk{number}:2181", Reach.SERVING, told=Told("3.9.5", "follower", zxid=1)) for number in (2, 3)
    )
    leader = Server("zk1:2181", Reach.SERVING, told=Told("3.9.5", "leader", zxid=1, synced_followers=2))
    publish(Look(1.0, (leader, *followers)))
    page = Markup(Client().get(URL))
    assert page.texts("ul#ailments li") == ["✓ ok Nothing that the servers tell is out of order."]


def test_the_csv_has_the_same_servers() -> None:
    publish()
    rows = list(csv.DictReader(Client().get(URL, {"format": "csv"}).content.decode().splitlines()))
    assert [(row["server"], row["mode"]) for row in rows] == [
        ("zk1:2181", "leader"),
        ("zk2:2181", "follower"),
        ("zk3:2181", ""),
    ]


def test_an_open_page_hears_of_rounds_alone_and_only_rows_that_differ_are_sent() -> None:
    key = PageKey(cluster="demo", page="zookeeper")
    assert zookeeper.PAGE.shows(key, ChangedAreas(frozenset({"ensemble"})))
    assert not zookeeper.PAGE.shows(key, ChangedAreas(frozenset({"topics", "samples"})))
    tables = []
    for connections in (7, 8):
        told = msgspec.structs.replace(LEADER.told, connections=connections)
        servers = (msgspec.structs.replace(LEADER, told=told), FOLLOWER, DOWN)
        publish(msgspec.structs.replace(LOOK, servers=servers))
        parts = renderer.Renderer().parts(key).parts
        tables.append(next(part for part in parts if isinstance(part, Table) and part.id == "servers-rows"))
    before, after = (table.rows for table in tables)
    assert [one.id for one in before] == [one.id for one in after]
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True, True]


def test_who_looks_has_the_servers_asked_more_often() -> None:
    asked: list[str] = []

    class Surveyor:
        def want(self) -> None:
            asked.append("demo")

    publish()
    live.snapshot_registry.appoint_surveyor("demo", Surveyor())
    Client().get(URL)
    assert asked == ["demo"]
    renderer.Renderer().keep_alive(PageKey(cluster="demo", page="zookeeper"))
    assert asked == ["demo", "demo"]
    Client().get("/metrics")
    assert asked == ["demo"] * 3


def test_what_servers_say_is_text_and_never_markup() -> None:
    evil = Server("<script>", Reach.DOWN, "<script>alert(1)</script>")
    publish(Look(1.0, (evil, DOWN), quotas=(Quota("/<script>"),)))
    answer = Client().get(URL).content.decode()
    assert "<script>alert" not in answer
    assert "&lt;script&gt;alert(1)" in answer
