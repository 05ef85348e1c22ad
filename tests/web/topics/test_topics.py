from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.web import states
from tests.web.markup import MOST_BYTES, Markup
from zkdash.web.frame import links
from zkdash.zk.connection.session import Phase

URL = "/c/demo/topics/"
HOSTILE = [
    "a b",
    "100%",
    "a%2Fb",
    "a#b",
    "a?b",
    "a;b",
    "<script>alert(1)",
    '"><img src=x onerror=alert(1)>',
    "it's",
    "\u202egnp.exe",
    "Überblick-日本",
    "~",
    "..",
    "&amp;",
    "{{ 7 }}",
]


def test_topics_stand_worst_first(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL))
    assert page.texts("#topics-rows th") == ["clicks", "orders", "payments"]
    assert page.texts("#topics-rows span.severity") == [
        "✕ 1 offline, 1 with one replica",
        "▲ 3 under-replicated",
        "▲ 1 under-replicated, 1 at min ISR",
    ]
    assert page.text("#showing") == "Showing 3 of 3 topics"
    assert page.text("#count-critical") == "1"


def test_json_has_the_same_rows_with_plain_values(client: Client) -> None:
    snapshot = states.publish(states.sick())
    document = json.loads(client.get(URL, {"format": "json"}).content)
    rows = document.pop("rows")
    assert document.pop("as_of").endswith("Z")
    assert document == {
        "cluster": "demo",
        "page": "topics",
        "revision": snapshot.revision,
        "zxid": 1000,
        "stale": False,
        "total": 3,
    }
    assert rows[0] == {
        "status": "critical",
        "name": "clicks",
        "partitions": 1,
        "replication": 1,
        "under_replicated": 0,
        "offline": 1,
        "preferred_leaders_percent": None,
        "preferred_leaders_percent_reason": "no partition has a leader to compare",
        "groups": 0,
        "lag": None,
        "lag_reason": "no group is known to have committed an offset of it",
        "config": 0,
        "marks": [],
        "changed": "2026-11-20T10:42:07.123Z",
    }


def test_the_accept_header_asks_for_json_too(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get(URL, headers={"accept": "application/json"})
    assert response["Content-Type"] == "application/json"
    assert "Accept" in response["Vary"]


def test_csv_has_the_same_rows(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get(URL, {"format": "csv", "q": "orders"})
    lines = response.content.decode().splitlines()
    assert response["Content-Disposition"] == 'attachment; filename="demo-topics.csv"'
    assert lines[0].startswith("status,name,partitions,")
    assert lines[1:] == ["ok,orders,3,3,0,0,100.0,0,,1,,2026-11-20T10:42:07.123Z"]


@pytest.mark.parametrize("query", [{}, {"format": "json"}, {"format": "csv"}])
def test_the_same_revision_is_not_sent_twice(client: Client, query: dict[str, str]) -> None:
    states.publish(states.healthy())
    etag = client.get(URL, query)["ETag"]
    again = client.get(URL, query, headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert again["Zkdash-Revision"] == "5"
    states.publish(states.healthy(), revision=6)
    assert client.get(URL, query, headers={"if-none-match": etag}).status_code == 200


def test_formats_of_one_address_have_different_etags(client: Client) -> None:
    states.publish(states.healthy())
    tags = {client.get(URL, headers={"accept": kind})["ETag"] for kind in ("text/html", "application/json")}
    assert len(tags) == 2


def test_filter_sort_and_page_live_in_the_address(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL, {"q": "o", "status": "warn", "sort": "-partitions"}))
    assert page.texts("#topics-rows th") == ["orders"]
    assert page.text("#showing") == "Showing 1 of 1 that match, 3 topics in all"
    (heading,) = [th for th in page.all("thead th") if th.get("aria-sort") == "descending"]
    assert heading.text_content().split() == ["Partitions", "▼"]
    assert heading[0].get("href") == "?q=o&status=warning&sort=partitions"


def test_a_bad_query_falls_back_and_says_so(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get(URL, {"sort": "<b>", "page": "x"})
    assert response.status_code == 200
    assert Markup(response).texts("p.note") == [
        "“<b>” is no column to sort by; sorted by status.",
        "“x” is not a page; showing the first.",
    ]


def test_there_are_three_ways_of_being_empty(client: Client) -> None:
    states.publish({})
    assert Markup(client.get(URL)).text("#topics-rows") == (
        "No topics in ZooKeeper yet. They appear under /brokers/topics."
    )
    states.publish(states.healthy())
    assert Markup(client.get(URL, {"q": "ordres"})).text("#topics-rows") == (
        "No topic matches q=ordres. Clear filter"
    )
    states.publish(None, phase=Phase.LOADING, loaded=8400, expected=21000)
    page = Markup(client.get(URL))
    assert page.text("#topics-rows") == "Topics are not known before the first load from ZooKeeper."
    assert page.text("#banner") == "● First load: 8 400 of about 21 000 znodes."


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_shown_escaped_and_can_be_followed(client: Client, name: str) -> None:
    states.publish({**states.brokers(1), **states.topic(name, {0: [1]})})
    response = client.get(URL)
    page = Markup(response)
    assert page.texts("#topics-rows th bdi") == [name]
    assert page.all("img") == []
    (link,) = page.all("#topics-rows th a")
    assert link.get("href") == links.topic("demo", name)
    # A browser sends the address as it stands; the test client would quote it again.
    detail = client.get(link.get("href"))
    assert detail.status_code == 200
    assert Markup(detail).text("h1") == name


def test_columns_that_layout_07_cannot_fill_are_not_drawn(client: Client) -> None:
    states.publish(
        {
            "/brokers/ids/1": states.znode("h-1:h:9092"),
            "/brokers/topics/t": states.znode(),
            "/brokers/topics/t/1": states.znode("4", owner=1),
        }
    )
    page = Markup(client.get(URL))
    assert page.texts("thead th") == ["Status ▲", "Name", "Partitions", "Groups", "Changed"]
    assert "layout 0.7" in page.text("#nav")


def test_fifty_rows_fit_into_the_budget_and_every_id_is_unique(client: Client) -> None:
    tree = states.brokers(1, 2, 3)
    for number in range(120):
        name = f"a-rather-long-topic-name.of-some-team.v{number}"
        tree |= states.topic(name, {0: [1, 2, 3]}, isr={0: [1]}, config={"retention.ms": "1"})
    states.publish(tree)
    response = client.get(URL)
    page = Markup(response)
    assert len(page.all("#topics-rows tr")) == 50
    assert len(response.content) <= MOST_BYTES
    assert len(page.ids()) == len(set(page.ids()))
    assert page.texts("#pager a") == ["Next"]
    assert page.text("#pager span") == "page 1 of 3"


def test_it_reads_on_without_javascript(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get(URL)
    assert b'<noscript><meta http-equiv="refresh" content="30"></noscript>' in response.content
    assert "as of" in Markup(response).text("#freshness")


@pytest.mark.parametrize("verb", ["post", "put", "delete", "patch"])
def test_nothing_but_reading_is_allowed(client: Client, verb: str) -> None:
    states.publish(states.healthy())
    assert getattr(client, verb)(URL).status_code == 405
