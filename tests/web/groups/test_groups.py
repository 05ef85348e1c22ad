from __future__ import annotations

import json

import pytest
from django.test import Client

from tests import lags
from tests.web import states
from tests.web.markup import MOST_BYTES, Markup
from zkdash.broker.samples import (
    Commit,
    Description,
    GroupCommits,
    GroupMember,
    Listing,
    LogEnds,
    Samples,
)
from zkdash.live.parts import PageKey
from zkdash.web.frame import links, tables
from zkdash.web.groups import groups
from zkdash.web.serving import renderer
from zkdash.zk.connection.session import Phase

URL = "/c/demo/groups/"
HOSTILE = [
    "a b",
    "100%",
    "a%2Fb",
    "a?b#c",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.exe",
    "~",
    "..",
    "{{ 7 }}",
]


def _tree() -> states.Tree:
    """One group that owns all it asks for, one that owns two of three, one with a pattern, one that left."""
    return {
        **states.healthy(),
        **states.group("billing", {"billing_h-1-00000000": ["payments"]}, owners={"payments": [0, 1]}),
        **states.group("audit", {"audit_h-1-00000000": ["orders"]}, owners={"orders": [0, 1]}),
        **states.group("mirror", {"mirror_h-1-00000000": ["ord.*"]}, pattern="white_list"),
        **states.group("old", {}, offsets={"clicks": {0: 12}}),
    }


def test_groups_stand_worst_first(client: Client) -> None:
    states.publish(_tree())
    page = Markup(client.get(URL))
    assert page.texts("#groups-rows th") == ["audit", "mirror", "old", "billing"]
    assert page.texts("#groups-rows span.severity") == [
        "✕ 1 unowned",
        "● only members",
        "● only offsets",
        "✓ ok",
    ]
    row = links.element_id("group", "audit")
    assert page.texts(f"#{row} td")[1:6] == ["1", "1", "2 / 3", "1", "unknown"]
    assert page.texts(f"#{row} td")[9] == "ZooKeeper"
    assert page.text("#showing") == "Showing 4 of 4 groups"
    assert page.text("#count-critical") == "1"
    assert "Groups 4" in page.text("#nav")


def test_json_has_owned_and_all_apart_and_a_reason_for_each_null(client: Client) -> None:
    states.publish(_tree())
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert (document["page"], document["total"]) == ("groups", 4)
    assert document["rows"][0] == {
        "status": "critical",
        "name": "audit",
        "state": "stable",
        "members": 1,
        "topics": 1,
        "owned": 2,
        "expected": 3,
        "unowned": 1,
        "lag": None,
        "lag_reason": "not sampled yet",
        "worst_lag": None,
        "worst_lag_reason": "not sampled yet",
        "lag_trend": None,
        "lag_trend_reason": "the lag was sampled too seldom so far to tell",
        "lag_as_of": None,
        "lag_as_of_reason": "not sampled yet",
        "kept_in": "ZooKeeper",
        "in_zookeeper": None,
        "in_zookeeper_reason": (
            "no offset of it is in ZooKeeper: kept in Kafka, not visible here, or never committed"
        ),
        "rebalanced": "2026-11-20T10:42:07.123Z",
    }
    mirror = document["rows"][1]
    assert (mirror["expected"], mirror["unowned"], mirror["rebalanced"]) == (None, None, None)
    assert mirror["unowned_reason"] == "members subscribe by a pattern; the group's page resolves it"


def test_csv_has_the_same_rows(client: Client) -> None:
    states.publish(_tree())
    response = client.get(URL, {"format": "csv", "q": "old"})
    lines = response.content.decode().splitlines()
    assert response["Content-Disposition"] == 'attachment; filename="demo-groups.csv"'
    assert lines == [
        ",".join(tables.fields(groups.FIELDS)),
        "info,old,empty,0,1,0,0,0,,,,,ZooKeeper,ZooKeeper,",
    ]


def test_filter_sort_and_page_live_in_the_address(client: Client) -> None:
    states.publish(_tree())
    page = Markup(client.get(URL, {"q": "topic:orders", "sort": "-name"}))
    assert page.texts("#groups-rows th") == ["audit"]
    assert page.text("#showing") == "Showing 1 of 1 that match, 4 groups in all"
    page = Markup(client.get(URL, {"status": "info"}))
    assert page.texts("#groups-rows th") == ["mirror", "old"]


def test_a_bad_query_falls_back_and_says_so(client: Client) -> None:
    states.publish(_tree())
    response = client.get(URL, {"sort": "colour", "size": "7"})
    assert response.status_code == 200
    assert Markup(response).texts("p.note") == [
        "“colour” is no column to sort by; sorted by status.",
        "“7” is not a page size; there are 50, 200, 1000.",
    ]


def test_there_are_three_ways_of_being_empty(client: Client) -> None:
    states.publish(states.healthy())
    assert Markup(client.get(URL)).text("#groups-rows").startswith("No groups in ZooKeeper yet.")
    states.publish(_tree())
    assert Markup(client.get(URL, {"q": "bill ing2"})).text("#groups-rows") == (
        "No group matches q=bill ing2. Clear filter"
    )
    states.publish(None, phase=Phase.LOADING)
    assert Markup(client.get(URL)).text("#groups-rows") == (
        "Groups are not known before the first load from ZooKeeper."
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_shown_escaped_and_can_be_followed(client: Client, name: str) -> None:
    states.publish({**states.brokers(1), **states.group(name, {})})
    page = Markup(client.get(URL))
    assert page.texts("#groups-rows th bdi") == [name]
    assert page.all("img") == []
    (link,) = page.all("#groups-rows th a")
    assert link.get("href") == links.group("demo", name)
    detail = client.get(link.get("href"))
    assert detail.status_code == 200
    assert Markup(detail).text("h1") == name


def test_fifty_rows_fit_into_the_budget(client: Client) -> None:
    tree = states.healthy()
    for number in range(120):
        name = f"a-rather-long-group-name.of-some-team.v{number}"
        tree |= states.group(name, {f"{name}_host-1-00000000": ["orders"]}, owners={"orders": [0]})
    states.publish(tree)
    response = client.get(URL)
    page = Markup(response)
    assert len(page.all("#groups-rows tr")) == 50
    assert len(response.content) <= MOST_BYTES
    assert len(page.ids()) == len(set(page.ids()))


def test_offsets_do_not_touch_the_list_but_owners_do() -> None:
    states.publish(_tree())
    render, key = renderer.Renderer(), PageKey("demo", "groups")
    render.parts(key)
    touched = states.change("/consumers/old/offsets/clicks/0", states.znode("13"), 6)
    assert not render.is_affected(key, "demo", touched)
    touched = states.change("/consumers/audit/owners/orders/2", states.znode("audit_h-1-00000000-0"), 7)
    assert render.is_affected(key, "demo", touched)


def _described(name: str, state: str, *topics: str) -> Description:
    member = GroupMember("m-1", "app", "/10.0.0.1", dict.fromkeys(topics, (0, 1)))
    return Description(2, state, "consumer", "range", (member,) if topics else (), 900.0)


def _with_kafka() -> None:
    """The tree, where brokers list `billing` too, a new group at work, and an empty one of a hostile name."""
    commits = GroupCommits(2, {("orders", 0): Commit(5, ""), ("orders", 1): Commit(10, "")}, 990.0)
    samples = Samples(
        ends=Samples().ends.set("orders", {n: LogEnds(6 - n, 2_000, 1_000.0) for n in range(3)}),
        commits=Samples().commits.set("modern", commits),
        listings=Samples().listings.set(2, Listing(frozenset({"modern", "billing", "<b>"}), 1.0)),
        descriptions=Samples()
        .descriptions.set("modern", _described("modern", "Stable", "orders"))
        .set("<b>", _described("<b>", "Empty")),
    )
    state = states.snapshot(_tree()).state
    states.publish(
        _tree(), samples=samples, lags=lags.counted(state, samples), kafka_groups=lags.listed(state, samples)
    )


def test_groups_that_brokers_alone_know_stand_among_the_others(client: Client) -> None:
    _with_kafka()
    page = Markup(client.get(URL))
    assert page.texts("#groups-rows th") == ["audit", "<b>", "mirror", "old", "billing", "modern"]
    row = links.element_id("group", "modern")
    cells = ["✓ stable", "1", "1", "2", "unknown", "3 985", "1 995", "unknown"]
    assert [text.replace("\u202f", " ") for text in page.texts(f"#{row} td")[:8]] == cells
    assert page.texts(f"#{row} td")[9] == "Kafka"
    assert page.texts(f"#{links.element_id('group', 'billing')} td")[9] == "both"
    assert page.text("#showing") == "Showing 6 of 6 groups"
    assert "Groups 6" in page.text("#nav")
    for name in ("modern", "<b>"):
        assert client.get(links.group("demo", name)).status_code == 200


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("lag:>1000", ["modern"]),
        ("lag:>1k", ["modern"]),
        ("lag:>=3985 lag:<=3985", ["modern"]),
        ("lag:<3985", []),
        ("lag:unknown topic:clicks", ["old"]),
        ("state:empty", ["<b>", "old"]),
        ("state:stab in:kafka", ["billing", "modern"]),
        ("in:both", ["billing"]),
        ("in:zookeeper is:dead", ["old"]),
        ("is:behind", ["modern"]),
        ("is:out-of-range", ["modern"]),
        ("lag:soon", []),
    ],
)
def test_groups_are_filtered_by_lag_by_state_and_by_where_they_are_kept(
    client: Client, query: str, names: list[str]
) -> None:
    _with_kafka()
    rows = json.loads(client.get(URL, {"format": "json", "q": query}).content)["rows"]
    assert [row["name"] for row in rows] == names


def test_groups_sort_by_lag_the_unknown_last(client: Client) -> None:
    _with_kafka()
    page = Markup(client.get(URL, {"sort": "-lag"}))
    assert page.texts("#groups-rows th")[0] == "modern"


def test_the_page_of_a_group_in_kafka_shows_its_members_and_the_lag_of_each_topic(client: Client) -> None:
    _with_kafka()
    page = Markup(client.get("/c/demo/groups/modern/"))
    assert page.texts("#kafka-members tbody th") == ["m-1"]
    assert page.texts("#kafka-members tbody td") == ["app", "/10.0.0.1", "2", "orders: 0, 1"]
    assert page.texts("#topic-lags-rows td")[:2] == ["3 985", "1 995"]
    told = json.loads(client.get("/c/demo/groups/modern/", {"format": "json"}).content)
    assert told["in_kafka"]["members"][0]["assigned"] == {"orders": [0, 1]}
    assert told["topics"][0]["lag"] == 3985
