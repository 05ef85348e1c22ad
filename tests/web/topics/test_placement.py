"""The placement of a topic's partitions shows what their table says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from lxml import html

from tests import recorded
from tests.web import states
from tests.web.markup import Markup
from zkdash import live
from zkdash.cluster.model.topics import Topic
from zkdash.live.parts import Block
from zkdash.web.drawing.placement import Role
from zkdash.web.frame import links
from zkdash.web.frame.panels import placements
from zkdash.web.serving import renderer

URL = "/c/demo/topics/orders/"
Cells = dict[int, dict[int, set[str]]]


def drawn(client: Client, url: str = URL) -> Cells:
    """The matrix read back: of each partition and broker the role, and the signs in the cell."""
    found: Cells = {}
    for line in Markup(client.get(url)).root.xpath("//*[@id='placement']//g[@data-partition]"):
        marks = found[int(line.get("data-partition"))] = {}
        for cell in line.iter("rect"):
            sign = cell.xpath(
                "following-sibling::*[1][self::text]|following-sibling::*[1][self::path]/following-sibling::*[1][self::text]"
            )
            signs = set(sign[0].text) if sign and sign[0].get("class") == "sign" else set()
            marks[int(cell.get("data-broker"))] = {cell.get("class"), *signs}
        marks.setdefault(-1, {"offline"} if line.get("class") == "offline" else set())
    return found


def expected(client: Client, registered: set[int], url: str = URL) -> Cells:
    """The same from the rows of the table's JSON."""
    rows = json.loads(client.get(url, {"format": "json", "size": "1000"}).content)["rows"]
    return {row["partition"]: _marks(row, registered) for row in rows}


def _marks(row: dict[str, Any], registered: set[int]) -> dict[int, set[str]]:
    replicas, leader = row["replicas"] or [], row["leader"]
    strangers = [] if leader in {None, -1, *replicas} else [leader]
    marks: dict[int, set[str]] = {-1: {"offline"} if leader == -1 else set()}
    for broker in (*replicas, *strangers):
        role = "in-sync" if broker in (row["isr"] or []) else "out"
        role = "unknown" if row["isr"] is None else "leader" if broker == leader else role
        marks[broker] = {role if broker in registered else "gone"} | (
            {"★"} if [broker] == replicas[:1] else set()
        )
    return marks


def compare(client: Client, url: str = URL) -> None:
    snapshot = live.current("demo")
    assert snapshot is not None
    assert drawn(client, url) == expected(client, set(snapshot.state.brokers), url)


def test_it_shows_who_leads_who_follows_and_who_is_gone_and_follows_changes(client: Client) -> None:
    states.publish(states.healthy())
    compare(client)
    states.change("/brokers/ids/3", None, 6)
    compare(client)
    states.change("/brokers/topics/orders/partitions/2/state", states.state(-1, [3]), 7)
    states.change("/brokers/topics/orders/partitions/1/state", states.state(2, [2]), 8)
    compare(client)
    assert drawn(client)[2] == {-1: {"offline"}, 3: {"gone", "★"}, 1: {"out"}, 2: {"out"}}
    assert Markup(client.get(URL)).text("#placement p").split() == [
        "leader",
        "in",
        "sync",
        "out",
        "of",
        "sync",
        "broker",
        "gone",
        "★",
        "preferred",
        "leader",
    ]


@pytest.mark.parametrize("tree", [tree for tree in recorded.REPRESENTATIVE if not tree.startswith("0.7")])
def test_of_recorded_clusters_it_shows_what_their_tables_say(client: Client, tree: str) -> None:
    made = states.publish(recorded.load(tree))
    compared = 0
    for name, topic in made.state.topics.items():
        if topic.partitions and not topic.moving:
            compare(client, links.topic("demo", name))
            compared += 1
    assert compared


@pytest.mark.parametrize("more", [{"adding_replicas": {"0": [3]}, "removing_replicas": {"0": [1]}}, {}])
def test_what_a_reassignment_adds_and_removes_has_its_arrow(client: Client, more: dict[str, Any]) -> None:
    tree = {**states.brokers(1, 2, 3), **states.topic("orders", {0: [1, 2], 1: [2, 1]}, isr={0: [1, 2]})}
    replicas = [1, 2, 3] if more else [1, 2]
    tree["/brokers/topics/orders"] = states.znode(
        {"version": 2, "partitions": {"0": replicas, "1": [2, 1]}, **more}
    )
    if not more:
        move = {"topic": "orders", "partition": 0, "replicas": [2, 3]}
        tree["/admin/reassign_partitions"] = states.znode({"version": 1, "partitions": [move]})
    states.publish(tree)
    assert drawn(client)[0] == {-1: set(), 1: {"leader", "★", "←"}, 2: {"in-sync"}, 3: {"out", "→"}}
    assert drawn(client)[1] == {-1: set(), 2: {"leader", "★"}, 1: {"in-sync"}}


def part(topic: Topic) -> Block:
    snapshot = live.current("demo")
    assert snapshot is not None
    return placements.block(snapshot, topic)


@pytest.mark.parametrize(("partitions", "brokers"), [(1, 1), (100, 12), (166, 6), (10_000, 100), (500, 250)])
def test_however_many_there_are_it_is_bounded_and_counts_every_replica(partitions: int, brokers: int) -> None:
    size = min(3, brokers)
    assignment = {
        number: [1 + (number + more) % brokers for more in range(size)] for number in range(partitions)
    }
    out = {number: replicas[:1] for number, replicas in assignment.items() if number % 7 == 0}
    made = states.publish(
        {**states.brokers(*range(1, brokers + 1)), **states.topic("t", assignment, isr=out)}
    )
    block = part(made.state.topics["t"])
    assert block == part(made.state.topics["t"])
    markup = renderer.html(block)
    assert len(markup) <= 64 * 1024
    picture = html.fragment_fromstring(markup)
    assert block.values.placement.is_folded == (partitions > 100)
    roles = [cell.get("class") for cell in picture.xpath("//rect[@data-broker]")]
    lines = picture.xpath("//g[@data-counts]")
    counted = [sum(map(int, (line.get(name) or "0").split())) for line in lines for name in ("data-counts",)]
    missing = [sum(map(int, (line.get("data-out") or "0").split())) for line in lines]
    assert len(roles) + sum(counted) == partitions * size
    assert roles.count(Role.OUT.value) + sum(missing) == len(out) * (size - 1)


def test_a_topic_without_replicas_has_no_picture(client: Client) -> None:
    states.publish(recorded.load("0.7.2-topics"))
    assert "placement" not in Markup(client.get("/c/demo/topics/orders/")).ids()
    states.publish(
        {**states.brokers(1), "/brokers/topics/orders": states.znode({"version": 1, "partitions": {}})}
    )
    assert Markup(client.get(URL)).text("#placement") == ""
