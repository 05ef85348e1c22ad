from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.web import states
from tests.web.markup import Markup

URL = "/c/demo/search/"
EVIL = '"><img src=x onerror=alert(1)>'


def found() -> states.Tree:
    return states.healthy() | states.topic(EVIL, {0: [1]}) | {"/consumers/orders": states.znode()}


def test_what_is_called_alike_stands_together_by_kind(client: Client) -> None:
    states.publish(found())
    page = Markup(client.get(URL, {"q": "or"}))
    assert page.texts("h2")[:3] == ["Topics 2", "Groups 1", "Brokers 0"]
    assert page.texts("#topics-rows th")[0] == "orders"
    assert [a.get("href") for a in page.all("#groups-rows a")] == ["/c/demo/groups/orders/"]
    assert page.text("#brokers-rows") == "No broker has “or” in its id or host."
    assert [box.get("value") for box in page.all("#search")] == ["or"]


def test_json_and_csv_have_the_same_hits(client: Client) -> None:
    states.publish(found())
    document = json.loads(client.get(URL, {"q": "orders", "format": "json"}).content)
    assert [(row["kind"], row["name"]) for row in document["rows"]] == [
        ("topic", "orders"),
        ("group", "orders"),
    ]
    assert document["total"] == 2
    lines = client.get(URL, {"q": "orders", "format": "csv"}).content.decode().splitlines()
    assert lines[0] == "kind,status,name,about"
    assert len(lines) == 3


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
    assert "type a part of a name" in Markup(client.get(URL)).text("#topics-rows")


def test_what_is_no_parameter_is_said(client: Client) -> None:
    states.publish(found())
    page = Markup(client.get(URL, {"q": "or", "sort": "name"}))
    assert page.text("p.note") == "“sort” is no parameter of this page."


def test_every_page_has_the_search_box(client: Client) -> None:
    states.publish(found())
    for path in ("/c/demo/", "/c/demo/topics/", "/c/demo/topics/orders/", "/c/demo/problems/"):
        (form,) = [one for one in Markup(client.get(path)).all("form") if one.get("action")]
        assert form.get("action") == URL
