"""The share of brokers by topic, its bars read back into the numbers of the partitions' table."""

from __future__ import annotations

import json
from collections import Counter

from django.test import Client

from tests.web import states
from tests.web.drawing import reading
from tests.web.markup import Markup
from zkdash.web.brokers import share

URL = "/c/demo/brokers/1/what-if/"


def drawn(page: Markup) -> dict[str, tuple[int, int]]:
    """By topic, the replicas and those of them that are out of sync."""
    rows = page.root.xpath("//section[@id='share']/dl/div")
    bars = {row.xpath("string(dt)").strip(): reading.bar(row.xpath("dd/svg")[0]) for row in rows}
    return {topic: (round(every), round(out)) for topic, (every, _, out) in bars.items()}


def test_bars_say_what_the_table_of_the_brokers_partitions_says(client: Client) -> None:
    tree = {
        **states.brokers(1, 2, 3),
        **states.topic("orders", {number: [1, 2] for number in range(8)}),
        **states.topic("clicks", {0: [1, 3], 1: [3, 2], 2: [2, 1]}),
        **states.topic("elsewhere", {0: [2, 3]}),
    }
    tree["/brokers/topics/orders/partitions/3/state"] = states.state(2, [2])
    states.publish(tree)
    rows = json.loads(client.get("/c/demo/brokers/1/?size=1000&format=json").content)["rows"]
    every = Counter(row["topic"] for row in rows)
    out = Counter(row["topic"] for row in rows if row["in_sync"] is False)
    lead = Counter(row["topic"] for row in rows if row["role"] == "leader")
    page = Markup(client.get(URL))
    assert drawn(page) == {topic: (every[topic], out[topic]) for topic in ("orders", "clicks")}
    assert page.texts("#share dd") == [
        f"{every['orders']} of 16 replicas, {lead['orders']} lead, 1 out of sync",
        f"{every['clicks']} of 6 replicas, {lead['clicks']} lead",
    ]


def test_of_many_topics_the_largest_are_drawn_and_the_others_counted(client: Client) -> None:
    tree = states.brokers(1, 2)
    for number in range(share.MOST + 2):
        tree |= states.topic(f"t-{number:02}", {part: [1] for part in range(number + 1)})
    states.publish(tree)
    page = Markup(client.get(URL))
    assert list(drawn(page)) == [f"t-{number:02}" for number in range(share.MOST + 1, 1, -1)]
    assert page.text("#share p") == "And 2 more topics, with 3 replicas."


def test_the_page_of_a_broker_leads_there_where_it_holds_something(client: Client) -> None:
    states.publish({**states.brokers(1, 2), **states.topic("orders", {0: [1]})})
    page = Markup(client.get("/c/demo/brokers/1/"))
    assert page.root.xpath("//h2[@id='held']/following-sibling::div[1]//a/@href") == ["what-if/#held"]
    assert Markup(client.get("/c/demo/brokers/2/")).all("#held") == []
