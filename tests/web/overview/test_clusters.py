from __future__ import annotations

import json

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web import states
from tests.web.markup import Markup
from zkdash.cluster import checks
from zkdash.history.queries.density import Density
from zkdash.history.queries.instants import Around
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.window import Window
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Past
from zkdash.web.serving import switcher
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.session import Phase


def test_the_only_cluster_is_where_one_goes(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get("/")
    assert (response.status_code, response["Location"]) == (302, "/c/demo/")


def test_each_cluster_has_a_line_and_a_bad_one_harms_no_other(client: Client) -> None:
    states.publish(states.healthy(), name="good")
    states.publish(None, name="bad", phase=Phase.REFUSED, sentence="wrong chroot")
    page = Markup(client.get("/"))
    assert page.texts("#clusters-rows th") == ["good", "bad"]
    assert page.texts("#clusters-rows td.status") == ["✓ ok", "✕ refused"]
    rows = json.loads(client.get("/", {"format": "json"}).content)["rows"]
    assert (rows[0]["topics"], rows[1]["topics"]) == (3, None)
    assert rows[1]["topics_reason"] == "not loaded from ZooKeeper yet"


def test_a_process_without_watchers_says_so(client: Client, settings: Settings) -> None:
    settings.ZKDASH_CLUSTERS = (ClusterConfig(name="demo", servers=(("h", 2181),)),)
    page = Markup(client.get("/"))
    assert "No watcher runs in this process" in page.text("#banner")
    assert page.text("#clusters-rows") == "Configured, but not watched by this process: demo."
    response = client.get("/c/demo/topics/")
    assert response.status_code == 503
    assert "No watcher runs in this process" in Markup(response).text("p.problem")


def test_without_a_cluster_it_says_what_to_do(client: Client) -> None:
    assert "Set ZKDASH_ZOOKEEPER=" in Markup(client.get("/")).text("#clusters-rows")


@pytest.mark.parametrize("path", ["/nowhere/", "/c/", "/c/demo/nothing/", "/c/demo/topics/a/b/", "/c/~~/"])
def test_an_address_that_nothing_is_at_is_a_404_in_words(client: Client, path: str) -> None:
    states.publish(states.healthy())
    response = client.get(path)
    assert response.status_code == 404
    assert Markup(response).text("p.problem").startswith("Nothing is at this address.")


def test_the_verdict_is_the_worst_finding_in_words_and_leads_to_what_it_counts(client: Client) -> None:
    seen = checks.Observations()
    for now in (1000.0, 1010.0):
        seen = checks.observe(seen, states.load(states.sick()), now)
    states.publish(states.sick(), name="sick", findings=seen.findings)
    states.publish(states.healthy(), name="well")
    page = Markup(client.get("/"))
    verdict, well = page.texts("#clusters-rows td.verdict")
    assert verdict.startswith("1 partition has no leader since 1970-01-01 00:16:40; ")
    assert well == "No check fails."
    hrefs = [a.get("href") for a in page.all("#clusters-rows td.verdict a")]
    assert hrefs[0] == "/c/sick/topics/?q=is%3Aoffline"
    assert len(hrefs) == len(seen.findings) if len(seen.findings) <= 3 else hrefs[3] == "/c/sick/checks/"


def test_a_cluster_that_cannot_be_reached_says_why_in_its_line(client: Client) -> None:
    states.publish(None, name="lost", phase=Phase.REFUSED, sentence="h:2181 has no znode /kafak.")
    states.publish(states.healthy(), name="well")
    assert Markup(client.get("/")).texts("#clusters-rows td.verdict") == [
        "h:2181 has no znode /kafak.",
        "No check fails.",
    ]


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/c/one/", "/c/two/"),
        ("/c/one/topics/?q=or&sort=-offline&page=9", "/c/two/topics/?q=or&sort=-offline&page=9"),
        ("/c/one/topics/orders/?q=1", "/c/two/topics/"),
        ("/c/one/problems/", "/c/two/problems/"),
    ],
)
def test_the_switcher_keeps_the_page(client: Client, path: str, other: str) -> None:
    states.publish(states.healthy(), name="one")
    states.publish(states.healthy(), name="two")
    links = Markup(client.get(path)).all("#switch a")
    assert [(link.text, link.get("href")) for link in links] == [("two", other)]


def test_from_a_page_of_the_past_the_same_time_of_another_cluster_is_reached() -> None:
    around = Around("watch", 0, 2_000, "", None, None)
    past = Past(Instant(7, 1_000), around, Density(Window(0, 60_000, 60_000), {}, ()))
    (switch,) = switcher.entries(PageKey("one", "topics", (), "q=or"), ("one", "two"), past)
    assert switch.href == "/c/two/topics/?q=or&at=1970-01-01T00%3A00%3A01.000Z"


def test_one_cluster_needs_no_switcher(client: Client) -> None:
    states.publish(states.healthy(), name="one")
    assert Markup(client.get("/c/one/topics/")).all("#switch") == []


def test_the_list_of_clusters_says_what_it_does_not_understand(client: Client) -> None:
    states.publish(states.healthy(), name="one")
    states.publish(states.healthy(), name="two")
    assert Markup(client.get("/", {"sort": "x"})).text("p.note") == "“sort” is not a parameter of this page."
