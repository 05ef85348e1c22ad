"""The cluster map says what the table of brokers says, of those that are gone too."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from django.test import Client
from lxml import html

from tests import recorded
from tests.web import states
from tests.web.drawing import reading
from tests.web.markup import Markup
from zkdash import live
from zkdash.live.departures import Departure
from zkdash.web.brokers import cluster_map
from zkdash.web.serving import renderer

URL = "/c/demo/brokers/"
HOST_3 = states.load(states.brokers(3)).brokers[3].value


def test_a_broker_that_is_gone_keeps_its_place_its_host_and_since_when(client: Client) -> None:
    states.publish(states.sick(), departed={3: Departure(HOST_3, states.TIME)})  # type: ignore[arg-type]
    page = Markup(client.get(URL))
    assert page.texts("#cluster-map h3") == ["rack-0", "rack-1", "rack-2"]
    gone, first, controller = page.all("#cluster-map a")
    assert "tile gone" in gone.get("class")
    assert " ".join(gone.text_content().split()).startswith("Broker 3 host-3:9092 ✕ gone 2026-11-20 10:42:07")
    assert gone.get("href") == "/c/demo/brokers/3/"
    assert "♛" in controller.text_content()
    assert "♛" not in first.text_content()
    assert page.texts("#cluster-map p.legend span")[:4] == [
        "leaders",
        "replicas",
        "even share",
        "out of sync",
    ]


def test_nobody_knows_the_host_of_one_that_was_gone_before_the_watch_began(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL))
    assert page.texts("#cluster-map h3")[-1] == cluster_map.RACK_UNKNOWN
    told = " ".join(page.all("#cluster-map a")[-1].text_content().split())
    assert told.startswith("Broker 3 host unknown ✕ gone, since when is unknown")


def drawn() -> dict[int, dict[str, reading.Bar]]:
    """The map read back: the bars of each broker by noun."""
    snapshot = live.current("demo")
    assert snapshot is not None
    markup = html.fragment_fromstring(renderer.html(cluster_map.block(snapshot)))
    return {
        int(tile.get("data-broker")): {
            picture.get("class").split()[-1]: reading.bar(picture) for picture in tile.iter("svg")
        }
        for tile in markup.iter("a")
    }


def table(client: Client) -> dict[int, dict[str, Any]]:
    rows = json.loads(client.get(URL, {"format": "json", "size": "1000"}).content)["rows"]
    return {row["id"]: row for row in rows}


@pytest.mark.parametrize("tree", [tree for tree in recorded.TRIED if not tree.startswith("0.7")])
def test_the_map_shows_the_numbers_of_the_table(client: Client, tree: str) -> None:
    states.publish(recorded.load(tree))
    compare(client)


def compare(client: Client) -> None:
    rows, tiles = table(client), drawn()
    assert tiles.keys() == rows.keys()
    absent = "the broker is not registered"
    registered = [row for row in rows.values() if row.get("host_port_reason") != absent]
    for number, row in rows.items():
        for noun in ("leaders", "replicas"):
            count, mean, _ = tiles[number][noun]
            assert count == pytest.approx(row[noun], abs=0.05)
            total = sum(one[noun] for one in registered)
            assert (mean or 0) == pytest.approx(total / len(registered) if registered else 0, abs=0.05)
        assert tiles[number]["replicas"][2] == pytest.approx(row["under_replicated"], abs=0.05)


def test_it_follows_a_change(client: Client) -> None:
    states.publish(states.healthy())
    compare(client)
    before = drawn()
    states.change("/brokers/ids/3", None, 6)
    states.change("/brokers/topics/orders/partitions/2/state", states.state(1, [1, 2]), 7)
    compare(client)
    assert drawn()[1]["leaders"][0] > before[1]["leaders"][0]


def test_equal_values_are_an_equal_part_and_0_7_has_bars_of_what_it_holds(client: Client) -> None:
    made = states.publish(recorded.load("0.7.2-broker-down"))
    assert cluster_map.block(made) == cluster_map.block(msgspec.structs.replace(made, revision=99))
    assert {noun for tile in drawn().values() for noun in tile} == {"partitions"}
    rows = table(client)
    for number, tile in drawn().items():
        assert tile["partitions"][0] == pytest.approx(rows[number]["partitions"], abs=0.05)


def test_a_hundred_brokers_are_dense_and_bounded(client: Client) -> None:
    topic = states.topic("t", {part: [part, part + 1] for part in range(100)})
    made = states.publish({**states.brokers(*range(100)), **topic})
    part = cluster_map.block(made)
    assert part.values.is_dense
    markup = renderer.html(part)
    assert (markup.count("data-broker="), markup.count("<svg")) == (101, 202)
    assert len(markup) < 64 * 1024
    # The table of the page itself shows more than dense tiles do.
    assert Markup(client.get(URL)).all("#cluster-map a") == []


def test_of_very_many_brokers_it_says_how_many_it_leaves_out() -> None:
    made = states.snapshot(states.topic("t", {part: [part] for part in range(450)}))
    assert cluster_map.of(made).rest == 50
    assert len(renderer.html(cluster_map.block(made))) < 256 * 1024
