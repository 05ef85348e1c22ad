"""The picture of a group says who owns what, and what is left to read, as its tables do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from tests import recorded
from tests.web import states
from tests.web.markup import Markup
from zkdash.broker.samples import LogEnds, Samples
from zkdash.kafka.consumers import consumer_ids
from zkdash.web.frame import links
from zkdash.web.groups import cells

URL = "/c/demo/groups/billing/"
Owned = dict[str, tuple[str | None, int | None]]


def tree(parts: int = 4, members: int = 3) -> states.Tree:
    """The first member owns two partitions, the second one, the third none; nobody owns the rest."""
    names = [f"billing_app-{at}-1795171327000-{at:08x}" for at in range(members)]
    made = {
        **states.brokers(1),
        **states.topic("orders", {part: [1] for part in range(parts)}),
        **states.group(
            "billing",
            {member: ["orders"] for member in names},
            offsets={"orders": dict.fromkeys(range(parts), 10)},
        ),
    }
    for part, owner in ((0, 0), (1, 0), (2, 1)):
        made[f"/consumers/billing/owners/orders/{part}"] = states.znode(f"{names[owner]}-0", owner=0x100)
    return made


def name(piece: Any) -> str:
    """What a box or a partition is called, which may be too long to be shown whole."""
    whole: str = piece.findtext("title") or piece.xpath("string(text[@class='name'])")
    return whole


def drawn(client: Client, url: str = URL) -> tuple[dict[str, int], Owned]:
    """The picture read back: what each member owns, and of each partition its owner and its lag."""
    root = Markup(client.get(url)).root
    boxes = root.xpath("//*[@id='ownership']//g[starts-with(@class, 'member')]")
    names = [name(box) for box in boxes]
    parts = root.xpath("//*[@id='ownership']//g[starts-with(@class, 'part')]")
    paths = "".join(root.xpath("//*[@id='ownership']//path[@class='links']/@d"))
    assert paths.count("M") == sum(part.get("data-owner") is not None for part in parts)
    return (
        {name: int(box.get("data-owned")) for name, box in zip(names, boxes, strict=True)},
        {
            name(part): (
                None if part.get("data-owner") is None else names[int(part.get("data-owner"))],
                None if part.get("data-lag") is None else int(part.get("data-lag")),
            )
            for part in parts
        },
    )


def compare(client: Client, group: str = "billing") -> None:
    url = links.group("demo", group)
    document: dict[str, Any] = json.loads(client.get(url, {"format": "json", "size": "1000"}).content)
    members, parts = drawn(client, url)
    registered = {cells.short(row["consumer"], group): row["owned"] for row in document["members"]}
    assert {name: members[name] for name in registered} == registered
    owners: Owned = {}
    for row in document["rows"]:
        consumer = consumer_ids.parse_thread(row["owner"] or "").consumer
        lag = row.get("lag")
        owners[f"{row['topic']}-{row['partition']}"] = (consumer and cells.short(consumer, group), lag)
    assert parts == {name: owners[name] for name in parts}
    asked = {f"{row['topic']}-{row['partition']}" for row in document["rows"] if row["status"] != "unknown"}
    assert parts.keys() >= {name for name in asked if owners[name][0]}


def test_it_shows_who_owns_what_and_what_nobody_owns_and_follows_changes(client: Client) -> None:
    ends = Samples().ends.set("orders", {part: LogEnds(0, 10 * (part + 2), 2.0) for part in range(4)})
    states.publish(tree(), samples=Samples(ends=ends))
    compare(client)
    assert drawn(client)[1]["orders-3"] == (None, 40)
    page = Markup(client.get(URL))
    (picture,) = page.root.xpath("//*[@id='ownership']//svg")
    assert picture.get("aria-label") == (
        "Partitions that 3 members own: 3; without an owner: 1; idle members: 1"
    )
    states.change("/consumers/billing/owners/orders/2", None, 6)
    states.change("/consumers/billing/owners/orders/3", states.znode("billing_else-0", owner=0x100), 7)
    compare(client)
    assert drawn(client)[1]["orders-3"][0] == "else"


@pytest.mark.parametrize("name", ["0.8.2.2-consumers", "1.1.1-consumers", "1.1.1-consumers-after-loss"])
def test_of_recorded_groups_it_says_what_their_tables_say(client: Client, name: str) -> None:
    made = states.publish(recorded.load(name))
    assert made.state.groups
    for group in made.state.groups:
        compare(client, group)


def test_five_hundred_members_are_counted_by_what_they_own(client: Client) -> None:
    states.publish(tree(parts=40, members=500))
    root = Markup(client.get(URL)).root
    lines = root.xpath("//*[@id='ownership']//g[@data-count]")
    assert [(line.get("data-least"), line.get("data-count")) for line in lines] == [
        ("0", "498"),
        ("1", "1"),
        ("2", "1"),
        (None, "37"),
    ]
    lengths = [float(line.find("rect").get("width")) for line in lines]
    assert lengths == [pytest.approx(int(line.get("data-count")) / 498 * 240, abs=0.01) for line in lines]


def test_a_group_without_members_and_owners_has_no_picture(client: Client) -> None:
    states.publish({**states.healthy(), **states.group("billing", {}, offsets={"orders": {0: 1}})})
    assert Markup(client.get(URL)).text("#ownership") == ""
