from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from django.test import Client

from tests.web import states
from tests.web.markup import Markup
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.brokers import failure
from zkdash.web.serving import renderer

URL = "/c/demo/brokers/1/what-if/"
TOPICS = {
    **states.topic("alone", {0: [1], 1: [2]}),
    **states.topic("orders", {0: [1, 2, 3], 1: [2, 3, 1]}, config={"min.insync.replicas": "3"}),
    **states.topic("clicks", {0: [1, 3], 1: [3, 2]}),
}


def _counts(page: Markup) -> dict[str, str]:
    return dict(zip(page.texts("dl.facts dt"), page.texts("dl.facts dd"), strict=True))


def test_it_says_whether_the_broker_can_be_stopped_and_why_not(client: Client) -> None:
    states.publish({**states.brokers(1, 2, 3), **TOPICS, **states.controller(1)})
    page = Markup(client.get(URL))
    assert page.text("#failure p.banner") == (
        "✕ It cannot be stopped now without harm: 1 partition would have no leader; "
        "2 partitions would drop below min.insync.replicas."
    )
    assert _counts(page) == {
        "Offline": "1",
        "Below min ISR": "2",
        "Another leader": "2",
        "Newly under-replicated": "3",
        "Controller": "moves",
        "Coordinators": "0",
    }
    notes = page.texts("#failure p.note")
    assert "1 is assumed. Were it 2, 1 partition more would drop below it." in notes[0]
    assert notes[1].startswith("The controller stops")


def test_its_tables_say_who_leads_then(client: Client) -> None:
    states.publish({**states.brokers(1, 2, 3), **TOPICS})
    page = Markup(client.get(URL))
    assert page.texts("#leads-rows th") == ["1", "2", "3"]
    assert page.texts("#leads-rows td") == [*("3", "0"), *("2", "3"), *("1", "2")]
    # 3 is the most that any broker leads, now or then: both columns are drawn on its scale
    widths = [float(rect.get("width").removesuffix("%")) for rect in page.all("#leads-rows .bar rect")]
    assert [round(wide / 100 * 3, 2) for wide in widths] == [3, 0, 2, 3, 1, 2]
    assert page.texts("#losses-rows th") == ["alone", "orders", "orders", "clicks"]
    cells = page.texts("#losses-rows td")
    assert [cells[start : start + 6] for start in range(0, 24, 6)] == [
        ["0", "✕ offline", "1", "none", "1 out", "1, assumed"],
        ["0", "✕ below min ISR", "1", "2", "2 3 1 out", "3"],
        ["1", "✕ below min ISR", "2", "2", "2 3 1 out", "3"],
        ["0", "● another leader", "1", "3", "3 1 out", "1, assumed"],
    ]


def test_a_broker_that_can_be_stopped_says_so(client: Client) -> None:
    states.publish({**states.brokers(1, 2, 3), **states.topic("clicks", {0: [1, 3], 1: [3, 2]})})
    page = Markup(client.get(URL))
    assert page.text("#failure p.banner") == (
        "✓ It can be stopped now: every partition keeps a leader and its min.insync.replicas."
    )


def test_once_kraft_owns_the_metadata_it_does_not_promise_anything(client: Client) -> None:
    owned = {"version": 2, "brokerid": 3000, "timestamp": "1", "kraftControllerEpoch": 1}
    states.publish({**states.brokers(1, 2, 3), **TOPICS, "/controller": states.znode(owned)})
    assert Markup(client.get(URL)).text("#failure p.banner").startswith("? Nobody can tell from ZooKeeper")


def test_others_and_a_rack_stop_with_it(client: Client) -> None:
    states.publish({**states.brokers(1, 2, 3, 4), **TOPICS})
    page = Markup(client.get(URL, {"brokers": "3, 9"}))
    assert page.text("h1") == "What if brokers 1, 3, 9 stopped?"
    assert "none: 9." in page.texts("#failure p.note")[0]
    told = json.loads(client.get(URL, {"rack": "rack-1", "format": "json"}).content)
    assert told["failure"]["brokers"] == [1, 4]
    assert Markup(client.get(URL, {"rack": "rack-1"})).all("option[@selected]")[0].get("value") == "rack-1"


def test_json_has_the_numbers_and_the_partitions(client: Client) -> None:
    states.publish({**states.brokers(1, 2, 3), **TOPICS})
    told = json.loads(client.get(URL, {"format": "json"}).content)
    assert (told["total"], told["failure"]["offline"], told["failure"]["safe_to_stop"]) == (4, 1, False)
    assert told["rows"][0] == {
        "topic": "alone",
        "partition": 0,
        "fate": "offline",
        "leader": 1,
        "leader_after": -1,
        "isr_after": [],
        "min_isr": 1,
    }
    assert told["leaders"][0] == {"broker": 1, "leaders": 3, "leaders_after": 0}


def test_groups_that_get_another_coordinator_are_named(client: Client) -> None:
    offsets = states.topic("__consumer_offsets", {0: [1, 2]})
    states.publish({**states.brokers(1, 2), **offsets, **states.group("billing", {})})
    page = Markup(client.get(URL))
    (link,) = (one for one in page.all("#failure dd a") if "groups" in (one.get("href") or ""))
    assert link.text_content() == "billing"
    assert _counts(page)["Coordinators"] == "1"


def test_what_is_not_understood_is_named(client: Client) -> None:
    states.publish(states.brokers(1))
    page = Markup(client.get(f"{URL}?brokers=2,x&brokers=%3Cb%3E&colour=red"))
    assert [note for note in page.texts("#main p.note") if "“" in note][:3] == [
        "“colour” is not a parameter of this page.",
        "“x” is not a broker’s id.",
        "“<b>” is not a broker’s id.",
    ]
    assert failure.canonical("brokers=3,1&brokers=3")[0] == "brokers=1%2C3"


@pytest.mark.parametrize("name", ["99", "x", "<img src=x>", "2147483648"])
def test_an_unknown_broker_is_not_found(client: Client, name: str) -> None:
    states.publish(states.brokers(1))
    response = client.get(f"/c/demo/brokers/{quote(name)}/what-if/")
    assert response.status_code == 404
    assert Markup(response).text("#failure p.problem") == f"No broker {name} is known to ZooKeeper."


def test_before_the_first_load_nobody_knows(client: Client) -> None:
    states.publish()
    response = client.get(URL)
    assert response.status_code == 200
    assert Markup(response).text("#failure p.problem").startswith("Brokers are not known before")


def test_it_is_not_computed_for_open_pages() -> None:
    snapshot = states.publish({**states.brokers(1, 2), **TOPICS})
    key = PageKey("demo", failure.NAME, ("1",))
    assert [part.id for part in renderer.look(snapshot, key).parts] == ["nav", "banner"]
    assert not failure.PAGE.shows(
        key, ChangedAreas(frozenset({"brokers"}), frozenset({"orders"}), frozenset())
    )


def test_the_broker_page_leads_to_it(client: Client) -> None:
    states.publish(states.brokers(1))
    assert "what-if/" in [link.get("href") for link in Markup(client.get("/c/demo/brokers/1/")).all("p a")]


def test_losses_that_are_too_many_for_one_page_have_more(client: Client) -> None:
    many = failure.MOST + 3
    states.publish(
        {**states.brokers(1, 2), **states.topic("wide", {number: [1, 2] for number in range(many)})}
    )
    first = Markup(client.get(URL))
    assert len(first.all("#losses-rows tr")) == failure.MOST
    assert first.text("#pager span") == "page 1 of 2"
    (link,) = first.all("#pager a")
    assert link.get("href") == "?page=2"
    last = Markup(client.get(URL + "?page=2&rack=none"))
    assert last.texts("#losses-rows td")[0] == str(failure.MOST)
    assert len(last.all("#losses-rows tr")) == 3
    assert last.all("#pager a")[0].get("href") == "?rack=none"
    beyond = json.loads(client.get(URL + "?page=9&format=json").content)
    assert [row["partition"] for row in beyond["rows"]] == [*range(failure.MOST, many)]
    assert beyond["total"] == many
