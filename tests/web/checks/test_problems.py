from __future__ import annotations

import json
import time

import pytest
from django.test import Client

from tests.fixtures import hostile
from tests.web import states
from tests.web.markup import Markup
from zkdash.cluster import checks

URL = "/c/demo/problems/"
NOPE = "not JSON: object keys must be strings at byte 1"


def broken() -> states.Tree:
    """A cluster with a malformed topic and a malformed reassignment."""
    return states.healthy() | {
        "/brokers/topics/odd": states.znode(b"\xff<b>\x00\xe2\x80\xae"),
        "/admin/reassign_partitions": states.znode("{nope"),
    }


def test_each_problem_says_where_what_and_since_when_worst_first(client: Client) -> None:
    states.publish(broken(), first_seen={"/admin/reassign_partitions": states.TIME})
    rows = json.loads(client.get(URL, {"format": "json"}).content)["rows"]
    assert [row["path"] for row in rows] == ["/brokers/topics/odd", "/admin/reassign_partitions"]
    assert rows[1] == {
        "status": "warning",
        "path": "/admin/reassign_partitions",
        "reason": NOPE,
        "first_seen": "2026-11-20T10:42:07.123Z",
        "raw": "{nope",
    }
    assert rows[0]["status"] == "critical"
    assert rows[0]["raw"] == r"\xff<b>\x00\u202e"


def test_the_page_has_the_same_rows_and_its_count_in_the_navigation(client: Client) -> None:
    states.publish(broken())
    page = Markup(client.get(URL))
    assert [code.split()[0] for code in page.texts("#problems-rows th")] == [
        "/brokers/topics/odd",
        "/admin/reassign_partitions",
    ]
    assert page.texts("#problems-rows td.raw") == [r"\xff<b>\x00\u202e", "{nope"]
    assert "Problems 2" in page.texts("#nav a")
    assert page.text("#showing") == "Showing 2 of 2 problems"


def test_a_cluster_without_problems_says_so_and_counts_none(client: Client) -> None:
    states.publish(states.healthy())
    page = Markup(client.get(URL))
    assert page.text("#problems-rows") == "Every znode that Kafka and its consumers wrote parses."
    assert "Problems" in page.texts("#nav a")


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ({"q": "admin"}, ["/admin/reassign_partitions"]),
        ({"q": "object KEYS"}, ["/admin/reassign_partitions"]),
        ({"status": "critical"}, ["/brokers/topics/odd"]),
        ({"sort": "path"}, ["/admin/reassign_partitions", "/brokers/topics/odd"]),
        ({"q": "nothing-like-it"}, []),
    ],
)
def test_filter_and_sort_live_in_the_address(client: Client, query: dict[str, str], paths: list[str]) -> None:
    states.publish(broken())
    rows = json.loads(client.get(URL, query | {"format": "json"}).content)["rows"]
    assert [row["path"] for row in rows] == paths


def test_a_question_mark_leads_to_what_is_wrong(client: Client) -> None:
    states.publish(broken())
    (link,) = {
        cell.get("href")
        for cell in Markup(client.get("/c/demo/topics/")).all("td.missing a")
        if cell.text == "?"
    }
    assert link == "/c/demo/problems/?q=%2Fbrokers%2Ftopics%2Fodd"
    rows = json.loads(client.get(link + "&format=json").content)["rows"]
    assert [row["path"] for row in rows] == ["/brokers/topics/odd"]


def test_the_check_of_problems_leads_here(client: Client) -> None:
    snapshot = states.snapshot(broken())
    seen = checks.Observations()
    for now in (time.time() - 10, time.time()):
        seen = checks.observe(seen, snapshot.state, now)
    states.publish(broken(), findings=seen.findings)
    hrefs = [a.get("href") for a in Markup(client.get("/c/demo/")).all("#checks a")]
    assert hrefs[:2] == ["/c/demo/problems/", "/c/demo/checks/D30/"]


def test_every_malformed_value_has_its_line_and_none_its_secret(client: Client) -> None:
    states.publish(hostile.admitted())
    body = client.get(URL, {"format": "json", "size": "1000"}).content.decode()
    assert {row["path"]: row["reason"] for row in json.loads(body)["rows"]} == hostile.problems()
    assert hostile.CANARY not in body
    assert hostile.CANARY not in client.get(URL, {"size": "1000"}).content.decode()


def test_before_the_first_load_nothing_is_said_to_parse(client: Client) -> None:
    states.publish(None)
    assert "not known before the first load" in Markup(client.get(URL)).text("#problems-rows")
