from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from tests.web import states
from tests.web.markup import Markup
from zkdash.cluster.changes import Change
from zkdash.cluster.checks import CHECKS, TITLES
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.tone import Tone
from zkdash.zk.connection.session import Phase

URL = "/c/demo/"
OFFLINE = Finding(
    check="D1",
    tone=Tone.CRITICAL,
    sentence="1 partition has no leader",
    count=1,
    page="topics",
    query="q=is%3Aoffline",
    since=1_795_171_327.0,
    remedy="restart a broker",
)
CHANGE = Change(
    when=states.TIME,
    area="topics",
    what="partition orders-3 lost replica 2 from ISR",
    before="1, 2",
    after=None,
    path="/brokers/topics/orders/partitions/3/state",
    zxid=None,
)


def test_failing_checks_are_sentences_that_lead_to_their_table(client: Client) -> None:
    states.publish(states.sick(), findings=(OFFLINE,), passing=("D2", "D8"))
    page = Markup(client.get(URL))
    (link,) = page.all("#checks .what a")
    assert link.get("href") == "/c/demo/topics/?q=is%3Aoffline"
    assert link.text_content() == "1 partition has no leader"
    (own,) = page.all("#checks .since a")
    assert own.get("href") == "/c/demo/checks/D1/"
    assert page.text("#passing summary") == "✓ ok 2 checks pass"
    assert page.texts("#passing li") == [TITLES["D2"], TITLES["D8"]]
    assert page.text("title").startswith("✕ 1 · ")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_what_each_check_links_to_exists_and_understands_it(client: Client, check: Any) -> None:
    states.publish(states.sick())
    if check.page == "topics":
        response = client.get(f"/c/demo/topics/?{check.query}")
        assert response.status_code == 200
        assert Markup(response).texts("p.note") == []


def test_the_strip_holds_six_numbers(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL))
    assert page.texts("#strip dt") == [
        "Brokers",
        "Controller",
        "Topics",
        "Partitions",
        "Under-replicated",
        "Offline",
    ]
    numbers = page.texts("#strip dd")
    assert [numbers[at] for at in (0, 2, 3, 4, 5)] == ["2", "3", "6", "▲ 4", "✕ 1"]
    assert numbers[1].startswith("2epoch 12")


def test_the_strip_of_layout_07_holds_what_07_has(client: Client) -> None:
    znodes = {"/brokers/ids/0": states.znode("h-1:10.0.0.5:9092"), "/brokers/topics/o/0": states.znode("4")}
    states.publish({"/brokers/topics/o": states.znode()} | znodes)
    page = Markup(client.get(URL))
    assert page.texts("#strip dt") == ["Brokers", "Topics", "Partitions"]


def test_last_changes_say_what_is_not_known(client: Client) -> None:
    states.publish(states.healthy(), changes=(CHANGE,) * 12)
    page = Markup(client.get(URL))
    assert len(page.all("#changes-rows tr")) == 10
    assert len(page.ids()) == len(set(page.ids()))
    assert page.texts("#changes-rows td")[1:5] == ["topics", CHANGE.what, "1, 2", "—"]
    assert page.texts("#changes-rows td")[6] == "unknown"


def test_json_holds_findings_and_numbers(client: Client) -> None:
    states.publish(states.sick(), findings=(OFFLINE,))
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert document["rows"] == [
        {
            "check": "D1",
            "status": "critical",
            "sentence": "1 partition has no leader",
            "count": 1,
            "since": "2026-11-20T10:42:07.000Z",
            "acknowledged": False,
            "remedy": "restart a broker",
        }
    ]
    assert document["numbers"] == {
        "brokers": 2,
        "controller": 2,
        "controller_epoch": 12,
        "topics": 3,
        "partitions": 6,
        "under_replicated": 4,
        "offline": 1,
    }


def test_before_the_first_load_numbers_are_unknown_and_not_zero(client: Client) -> None:
    states.publish(None, phase=Phase.CONNECTING)
    assert Markup(client.get(URL)).texts("#strip dd")[0].startswith("unknown")
    numbers = json.loads(client.get(URL, {"format": "json"}).content)["numbers"]
    assert numbers["brokers"] is None
    assert numbers["brokers_reason"] == "not loaded from ZooKeeper yet"


def test_a_missing_and_a_malformed_controller_differ(client: Client) -> None:
    tree = {**states.healthy(), "/controller": states.znode("{nope")}
    states.publish(tree)
    assert Markup(client.get(URL)).texts("#strip dd")[1].startswith("? ?")
    del tree["/controller"]
    states.publish(tree)
    assert Markup(client.get(URL)).texts("#strip dd")[1].startswith("✕ none")


@pytest.mark.parametrize(
    ("phase", "tree", "sentence", "words"),
    [
        (Phase.LIVE, states.healthy(), "", ""),
        (Phase.CONNECTING, None, "", "▲ Connecting to ZooKeeper at 127.0.0.1:2181/kafka."),
        (Phase.CONNECTING, states.healthy(), "", "✕ No connection to ZooKeeper."),
        (Phase.SUSPENDED, states.healthy(), "", "▲ Reconnecting to ZooKeeper. Data as of"),
        (Phase.LOST, states.healthy(), "", "✕ Session lost."),
        (Phase.REFUSED, None, "has no znode /kafka", "✕ has no znode /kafka"),
        (Phase.LOADING, states.healthy(), "", "● Catching up: 0 znodes."),
    ],
)
def test_the_banner_says_what_became_of_the_connection(
    client: Client, phase: Phase, tree: states.Tree | None, sentence: str, words: str
) -> None:
    states.publish(tree, phase=phase, sentence=sentence)
    said = Markup(client.get(URL)).text("#banner")
    assert said.startswith(words)
    assert bool(said) == bool(words)


def test_old_data_is_marked_even_where_the_connection_looks_well(client: Client) -> None:
    states.publish(states.healthy(), as_of=1.0)
    assert Markup(client.get(URL)).text("#banner").startswith("▲ ZooKeeper has not answered for over 3 s")
    assert json.loads(client.get(URL, {"format": "json"}).content)["stale"] is True


def test_an_unknown_cluster_is_a_404_that_names_the_known_ones(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get("/c/prod/")
    assert response.status_code == 404
    assert Markup(response).text("p.problem") == "No cluster named “prod” is configured. Configured: demo."
