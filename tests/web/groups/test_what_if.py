from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.web import states
from tests.web.markup import Markup
from zkdash.web.frame import links
from zkdash.web.groups import what_if
from zkdash.zk.connection.session import Phase

URL = "/c/demo/groups/billing/what-if/"
ONE = "billing_app-1-1795171327000-0000aaaa"
TWO = "billing_app-2-1795171327000-0000bbbb"


@pytest.fixture(autouse=True)
def _published() -> None:
    states.publish(
        {
            **states.healthy(),
            **states.topic("wide", {number: [1] for number in range(4)}),
            **states.group("billing", {ONE: ["wide"], TWO: ["wide"]}),
        }
    )


def test_it_begins_with_nothing_changed_and_a_form(client: Client) -> None:
    page = Markup(client.get(URL))
    assert page.text("#answer p.banner") == "● Nothing is changed yet. Say below what should be otherwise."
    assert page.texts("#shares-rows td")[:2] == ["2", "2"]
    assert page.text("#shifts-rows") == "No partition gets another owner."
    names = {field.get("name") for field in page.all("form.asking")[0].iter("input", "select")}
    assert names == {"add", "host", "threads", "topic", "partitions", "rule", "remove"}
    (link,) = page.all("h1 a")
    assert link.get("href") == links.group("demo", "billing")


def test_a_member_less_moves_its_partitions(client: Client) -> None:
    page = Markup(client.get(URL, {"remove": TWO}))
    assert "2 of 4 partitions would change their owner, 2 of them to another member." in page.text("#answer")
    share = "#" + links.element_id("share", TWO)
    assert page.texts(f"{share} td") == ["2", "0", "removed"]
    assert page.texts("#shifts-rows span.severity") == ["● to another member"] * 2
    assert page.texts("#shifts-rows th") == ["wide", "wide"]
    assert [box.get("value") for box in page.all("input") if box.get("checked") is not None] == [TWO]


def test_a_topic_that_grows_gives_new_partitions_their_first_owner(client: Client) -> None:
    document = json.loads(client.get(URL, {"topic": "wide", "partitions": "6", "format": "json"}).content)
    assert document["answer"] == (
        "1 of 6 partitions would change their owner, 1 of them to another member; 2 would get their first."
    )
    assert [(row["partition"], row["before"], row["after"]) for row in document["rows"]] == [
        (2, f"{TWO}-0", f"{ONE}-0"),
        (4, None, f"{TWO}-0"),
        (5, None, f"{TWO}-0"),
    ]
    assert [(one["before"], one["after"]) for one in document["members"]] == [(2, 3), (2, 3)]


def test_a_new_member_is_placed_by_its_host(client: Client) -> None:
    page = Markup(client.get(URL, {"add": "1", "host": "a-host", "threads": "2"}))
    assert page.texts("#shares-rows th bdi")[0] == "a-host-…-00000000"
    assert page.texts("#shares-rows span.severity") == ["new"]


def test_csv_has_each_partition_that_moves(client: Client) -> None:
    lines = client.get(URL, {"remove": TWO, "format": "csv"}).content.decode().splitlines()
    assert lines[0] == "topic,partition,status,before,after"
    assert lines[1:] == [f"wide,{part},info,{TWO}-0,{ONE}-0" for part in (2, 3)]


def test_a_rule_that_would_fail_says_why(client: Client) -> None:
    states.publish({**states.healthy(), **states.group("billing", {ONE: ["orders"], TWO: ["clicks"]})})
    page = Markup(client.get(URL, {"rule": "roundrobin-0.8.2", "threads": "2"}))
    assert page.text("#answer p.banner").startswith("✕ The members would fail to rebalance and own nothing")


def test_what_is_not_understood_is_left_out_and_said(client: Client) -> None:
    response = client.get(
        URL, {"add": "many", "threads": "9999", "rule": "best", "lag": "1", "remove": "who", "topic": "nope"}
    )
    assert response.status_code == 200
    notes = Markup(response).texts("p.note")
    assert notes[:3] == [
        "“lag” is not a parameter of this page.",
        "“many” is not a number from 0 to 50 for add; it is left out.",
        "“9999” is not a number from 0 to 200 for threads; it is left out.",
    ]
    assert notes[3].startswith("“best” is no rule; there are range-0.7, range,")
    assert notes[4:] == [
        "“who” is no member of the group now.",
        "The group does not read “nope”; its partitions change nothing.",
    ]


def test_a_registration_that_hides_the_plan_says_so(client: Client) -> None:
    tree = {**states.healthy(), **states.group("billing", {ONE: ["orders"]})}
    tree[f"/consumers/billing/ids/{TWO}"] = states.znode("{")
    states.publish(tree)
    answer = Markup(client.get(URL, {"add": "1"})).text("#answer p.banner")
    assert answer.startswith("? What the group asks for cannot be told: the registration of")


def test_a_group_that_is_not_there_is_a_404(client: Client) -> None:
    response = client.get("/c/demo/groups/nobody/what-if/")
    assert response.status_code == 404
    assert Markup(response).text("p.problem") == "No group named “nobody” is in ZooKeeper."
    states.publish(None, phase=Phase.CONNECTING)
    assert client.get(URL).status_code == 200


def test_shifts_and_members_that_are_too_many_for_one_page_have_more(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(what_if, "MOST", 3)
    asked = {"topic": "wide", "partitions": "9", "add": "2"}
    every = json.loads(client.get(URL, {**asked, "format": "json"}).content)
    rows, members = len(every["rows"]), len(every["members"])
    assert rows > 3 < members, "both need a second page"
    page = Markup(client.get(URL, {**asked, "page": "2", "members": "2"}))
    assert len(page.all("#shares-rows tr")) == members - 3
    assert len(page.all("#shifts-rows tr")) == min(3, rows - 3)
    assert page.text("#members-pager span") == "page 2 of 2"
    (back,) = page.all("#members-pager a")
    assert back.get("href") == "?add=2&partitions=9&topic=wide&page=2#shares"
    assert page.all("#pager a")[0].get("href") == "?add=2&partitions=9&topic=wide&members=2"
    assert len(json.loads(client.get(URL, {**asked, "page": "2", "format": "json"}).content)["rows"]) == rows
