from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web import states
from tests.web.markup import Markup
from zkdash.access.models import Grant

URL = "/c/demo/search/"
EVIL = '"><img src=x onerror=alert(1)>'


def found() -> states.Tree:
    return states.healthy() | states.topic(EVIL, {0: [1]}) | {"/consumers/orders": states.znode()}


def test_what_is_called_alike_stands_together_by_kind(client: Client) -> None:
    states.publish(found())
    page = Markup(client.get(URL, {"q": "or"}))
    assert page.texts("h2")[:3] == ["Topics 2", "Groups 1", "Brokers 0"]
    assert page.texts("#topic-rows th")[0] == "orders"
    assert [a.get("href") for a in page.all("#group-rows a")] == ["/c/demo/groups/orders/"]
    assert page.text("#broker-rows") == "No broker has “or” in its id or host."
    assert [box.get("value") for box in page.all("#search")] == ["or"]


def rows(client: Client, text: str, **more: str) -> list[dict[str, str]]:
    query = {"q": text, "format": "json", **more}
    found: list[dict[str, str]] = json.loads(client.get(URL, query).content)["rows"]
    return found


def test_json_and_csv_have_the_same_hits(client: Client) -> None:
    states.publish(found())
    document = json.loads(client.get(URL, {"q": "payments", "format": "json"}).content)
    assert [(row["kind"], row["name"], row["address"]) for row in document["rows"]] == [
        ("topic", "payments", "/c/demo/topics/payments/"),
    ]
    assert document["total"] == 1
    lines = client.get(URL, {"q": "payments", "format": "csv"}).content.decode().splitlines()
    assert lines[0] == "kind,status,name,about,address"
    assert len(lines) == 2


def test_suggestions_are_few_of_each_kind(client: Client) -> None:
    states.publish(found() | {f"/consumers/r{number}": states.znode() for number in range(9)})
    kinds = [row["kind"] for row in rows(client, "r", limit="4")]
    assert max(map(kinds.count, kinds)) == 4
    assert {"topic", "group", "check", "option", "page"} <= set(kinds)
    assert "“51” is not a limit" in Markup(client.get(URL, {"q": "r", "limit": "51"})).text("p.note")


@pytest.mark.parametrize(
    ("text", "kind", "address"),
    [
        ("D9", "check", "/c/demo/checks/D9/"),
        ("under-repl", "check", "/c/demo/checks/D8/"),
        ("retention.m", "option", "/c/demo/configs/?q=retention.ms"),
        ("/brokers/ids/1", "znode", "/c/demo/znodes/brokers/ids/1"),
        ("/brok", "znode", "/c/demo/znodes/brokers"),
        ("time", "page", "/c/demo/timeline/"),
        ("znod", "page", "/c/demo/znodes/"),
    ],
)
def test_what_is_not_a_topic_a_group_or_a_broker_is_found_too(
    client: Client, text: str, kind: str, address: str
) -> None:
    states.publish(found())
    assert address in [row["address"] for row in rows(client, text) if row["kind"] == kind]
    page = Markup(client.get(URL, {"q": text}, follow=True))
    assert page.texts("h1")


def test_no_znode_is_suggested_that_is_not_there(client: Client) -> None:
    states.publish(found())
    named = [row["name"] for row in rows(client, "/config/topics/") if row["kind"] == "znode"]
    assert named
    assert all(states.held("demo").get(name) for name in named)


@pytest.mark.django_db
def test_actions_are_for_who_may_act_and_clusters_for_who_may_see_them(
    client: Client, settings: Settings
) -> None:
    states.publish(found())
    states.publish(found(), name="other")

    def of(kind: str, text: str) -> list[str]:
        return [row["address"] for row in rows(client, text) if row["kind"] == kind]

    assert of("action", "create") == []
    assert of("cluster", "oth") == ["/c/other/"]
    assert "/c/demo/actions/new/" not in of("page", "")
    settings.ZKDASH_ANONYMOUS_READ = False
    alice = User.objects.create_user("alice")
    Grant.objects.create(user=alice, role="operator", clusters="demo")
    client.force_login(alice)
    assert of("action", "create") == ["/c/demo/actions/new/create-topic/"]
    assert of("cluster", "oth") == []
    assert "/c/demo/actions/new/" in of("page", "")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("payments", "/c/demo/topics/payments/"),
        (" payments ", "/c/demo/topics/payments/"),
        ("2", "/c/demo/brokers/2/"),
        (EVIL, "/c/demo/topics/%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E/"),
    ],
)
def test_the_only_thing_of_that_name_is_gone_to(client: Client, text: str, address: str) -> None:
    states.publish(found())
    response = client.get(URL, {"q": text})
    assert (response.status_code, response["Location"]) == (302, address)


def test_a_part_of_a_name_is_never_gone_to(client: Client) -> None:
    states.publish(found())
    assert client.get(URL, {"q": "payment"}).status_code == 200


def test_nothing_is_looked_for_yet(client: Client) -> None:
    states.publish(found())
    assert "Type part of a name" in Markup(client.get(URL)).text("#topic-rows")


def test_what_is_no_parameter_is_said(client: Client) -> None:
    states.publish(found())
    page = Markup(client.get(URL, {"q": "or", "sort": "name"}))
    assert page.text("p.note") == "“sort” is not a parameter of this page."


def test_every_page_has_the_search_box(client: Client) -> None:
    states.publish(found())
    for path in ("/c/demo/", "/c/demo/topics/", "/c/demo/topics/orders/", "/c/demo/problems/"):
        (form,) = [one for one in Markup(client.get(path)).all("form") if one.get("action")]
        assert form.get("action") == URL
