"""The life of a group, told of one group's own znodes, or of an example where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import pytest
from django.test import Client

from tests import recorded
from tests.web import states
from tests.web.markup import MOST_BYTES, Markup
from zkdash.kafka.assignment import range_assignor
from zkdash.live.parts import PageKey
from zkdash.web.frame import links
from zkdash.web.groups import how_it_works, life
from zkdash.znode import Unreadable, Znode

URL = "/c/demo/how-it-works/"
ONE = "billing_app-1-1795171327000-0000aaaa"
TWO = "billing_app-2-1795171327000-0000bbbb"
HEADINGS = ["1. Register", "2. Watch", "3. Compute", "4. Claim", "5. Commit"]


def _tree() -> states.Tree:
    root = "/consumers/billing/owners/orders"
    return {
        **states.healthy(),
        **states.group("audit", {}, offsets={"orders": {0: 3}}),
        **states.group("billing", {ONE: ["orders"], TWO: ["orders"]}, offsets={"orders": {0: 10, 1: 11}}),
        f"{root}/0": states.znode(f"{ONE}-0", owner=0x100),
        f"{root}/1": states.znode(f"{ONE}-0", owner=0x100),
    }


def test_each_step_is_told_with_the_groups_own_znodes_which_lead_to_the_browser(client: Client) -> None:
    states.publish(_tree())
    page = Markup(client.get(URL, {"group": "billing"}))
    assert page.texts("h2")[: len(HEADINGS)] == HEADINGS
    assert len(page.texts("#register-rows tr")) == 2
    assert page.texts("#register-rows th code") == [
        f"/consumers/billing/ids/{ONE}",
        f"/consumers/billing/ids/{TWO}",
    ]
    path = f"/consumers/billing/ids/{ONE}"
    assert page.all("#register-rows a")[0].get("href") == links.znode("demo", path)
    assert page.texts("#watch-rows th code") == [
        "/consumers/billing/ids",
        "/brokers/topics/orders",
        "/brokers/ids",
    ]
    assert "3 partitions" in page.texts("#watch-rows tr")[1]
    assert page.text("#step-compute p.aside") == (
        "orders: 3 partitions for 2 threads: each thread gets 1, and the first 1 of them 1 more."
    )
    rows = page.texts("#plan-rows tr")
    assert ["✓ as expected" in row for row in rows] == [True, True, False]
    assert "✕ unowned" in rows[2]
    assert page.text("#step-claim span.severity") == "✕ 1 partition has no owner: nobody reads there."
    assert page.texts("#claim-rows th code") == [f"/consumers/billing/owners/orders/{n}" for n in (0, 1)]
    assert page.texts("#commit-rows th code") == [f"/consumers/billing/offsets/orders/{n}" for n in (0, 1)]
    assert page.text("#step-commit span.severity") == "✓ 2 offsets in ZooKeeper."


def test_json_has_the_znodes_by_step_and_the_plan_beside_the_owners(client: Client) -> None:
    states.publish(_tree())
    document = client.get(URL, {"group": "billing", "format": "json"}).json()
    assert (document["group"], document["rule"], document["total"]) == ("billing", "range", 6)
    assert [row["step"] for row in document["rows"]] == ["register"] * 2 + ["claim"] * 2 + ["commit"] * 2
    assert document["rows"][2]["holds"] == f"{ONE}-0"
    assert [row["kind"] for row in document["rows"][3:5]] == ["ephemeral", "persistent"]
    plan = [(row["expected"], row["owner"]) for row in document["plan"]]
    assert plan == [(f"{ONE}-0", f"{ONE}-0"), (f"{ONE}-0", f"{ONE}-0"), (f"{TWO}-0", None)]
    assert [step["status"] for step in document["steps"]] == ["ok", "ok", "critical", "ok"]
    assert document["watches"][1]["watched"] == "data"


def test_without_a_choice_a_group_that_has_all_of_it_is_shown(client: Client) -> None:
    states.publish(_tree())
    assert client.get(URL, {"format": "json"}).json()["group"] == "billing"
    states.publish(_tree() | {f"/consumers/billing/ids/{name}": None for name in (ONE, TWO)})
    assert client.get(URL, {"group": "audit", "format": "json"}).json()["group"] == "audit"


def test_where_there_is_no_such_group_the_steps_are_told_with_an_example(client: Client) -> None:
    states.publish(states.healthy())
    page = Markup(client.get(URL))
    assert page.text("#introduction").startswith("No group of this kind is in ZooKeeper")
    assert page.texts("h2")[: len(HEADINGS)] == HEADINGS
    assert not page.all("#register-rows")
    document = client.get(URL, {"format": "json"}).json()
    assert (document["group"], document["rows"], document["plan"]) == (None, [], [])
    page = Markup(client.get(URL, {"group": "<b>nobody"}))
    assert page.text("#introduction").startswith("No group named “<b>nobody” is in ZooKeeper")


def test_the_example_divides_as_the_code_does(client: Client) -> None:
    states.publish(states.healthy())
    page = Markup(client.get(URL))
    items = [text.split() for text in page.texts("#main li")]
    held = {words[0]: words[2] for words in items if words[1:2] == ["holds"]}
    threads = [f"{path.rpartition('/')[2]}-0" for path in held if "/ids/" in path]
    owners = {
        int(path.rpartition("/")[2]): thread for path, thread in held.items() if "/owners/orders/" in path
    }
    assert owners == range_assignor.assign_range(range(5), threads)


@pytest.mark.parametrize("name", ["0.7.2-consumers", "0.8.2.2-consumers", "1.1.1-consumers"])
def test_groups_of_every_era_are_told(client: Client, name: str) -> None:
    tree: Mapping[str, Znode | Unreadable | None] = recorded.load(name)
    states.publish(dict(tree))
    groups = client.get("/c/demo/groups/?format=json").json()["rows"]
    for group in (row["name"] for row in groups):
        answer = client.get(f"{URL}?group={quote(group)}")
        assert answer.status_code == 200
        assert len(answer.content) < MOST_BYTES
        page = Markup(answer)
        assert ("of 0.7 watches the children" in page.text("#main")) is name.startswith("0.7")
        steps = client.get(f"{URL}?group={quote(group)}&format=json").json()["steps"]
        assert "critical" not in [step["status"] for step in steps]


def test_of_a_large_group_only_some_are_shown(client: Client) -> None:
    many = {f"big_host-{n:04}-1795171327000-0000aaaa": ["orders"] for n in range(500)}
    states.publish({**states.healthy(), **states.group("big", many)})
    document = client.get(URL, {"group": "big", "format": "json"}).json()
    assert len(document["rows"]) == life.MOST


def test_it_is_rendered_again_when_the_group_changed_and_not_when_another_did() -> None:
    key = PageKey("demo", "how-it-works", (), "group=billing")
    first = how_it_works.render_key(states.snapshot(_tree()), key)
    other = states.snapshot(_tree() | {"/consumers/audit/offsets/orders/0": states.znode("4")})
    assert how_it_works.render_key(other, key) == first
    moved = states.snapshot(_tree() | {"/consumers/billing/offsets/orders/0": states.znode("12")})
    assert how_it_works.render_key(moved, key) != first
