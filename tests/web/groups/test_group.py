from __future__ import annotations

import json

import pytest
from django.test import Client

from tests import lags, recorded
from tests.web import states
from tests.web.markup import MOST_BYTES, Markup
from zkdash.broker.samples import Commit, GroupCommits, Listing, LogEnds, Samples, Unknown
from zkdash.cluster.analysis.migration import Migration, Stage
from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.assignment_context import AssignmentContext
from zkdash.kafka.assignment.rules import Rule
from zkdash.live.parts import PageKey
from zkdash.web.frame import links
from zkdash.web.groups import group
from zkdash.web.serving import renderer
from zkdash.zk.connection.session import Phase
from zkdash.znode import Unreadable

URL = "/c/demo/groups/billing/"
ONE = "billing_app-1-1795171327000-0000aaaa"
TWO = "billing_app-2-1795171327000-0000bbbb"


def _owners(topic: str, threads: dict[str, str], group: str = "billing") -> states.Tree:
    root = f"/consumers/{group}/owners/{topic}"
    return {f"{root}/{part}": states.znode(thread, owner=0x100) for part, thread in threads.items()}


def _tree() -> states.Tree:
    """Two members share three partitions by range, and keep their offsets in ZooKeeper."""
    return {
        **states.healthy(),
        **states.group(
            "billing",
            {ONE: ["orders"], TWO: ["orders"]},
            offsets={"orders": {0: 10, 1: 11, 2: 12}},
        ),
        **_owners("orders", {"0": f"{ONE}-0", "1": f"{ONE}-0", "2": f"{TWO}-0"}),
    }


def _row(topic: str, part: str) -> str:
    return "#" + links.element_id("part", f"{topic}/{part}")


def test_it_shows_members_and_for_each_partition_its_owner_and_whom_it_should_have(client: Client) -> None:
    states.publish(_tree())
    page = Markup(client.get(URL))
    assert page.text("h1") == "billing"
    assert page.texts("#members-rows th bdi") == ["app-1-…-0000aaaa", "app-2-…-0000bbbb"]
    member = "#" + links.element_id("member", ONE)
    assert page.texts(f"{member} td")[:6] == ["app-1", "2026-11-20 10:42:07", "orders", "1", "2", "0"]
    assert page.texts(f"{_row('orders', '2')} td bdi") == ["app-2-…-0000bbbb-0"]
    cells = page.texts(f"{_row('orders', '2')} td")
    assert (cells[0], cells[1], cells[3], cells[4]) == ("2", "✓ as expected", "same", "12")
    assert cells[5:8] == ["unknown", "unknown", "unknown"]
    assert "range (0.8 to 1.1, the default)" in page.texts("#facts dd")
    assert page.text("#showing") == "Showing 3 of 3 partitions"


def test_json_has_the_members_and_what_is_known_of_the_whole(client: Client) -> None:
    states.publish(_tree())
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert (document["page"], document["total"]) == ("group", 3)
    assert document["rows"][2] == {
        "topic": "orders",
        "partition": 2,
        "status": "ok",
        "owner": f"{TWO}-0",
        "expected": f"{TWO}-0",
        "offset": 12,
        "in_kafka": None,
        "in_kafka_reason": "not sampled yet",
        "log_end": None,
        "log_end_reason": "not sampled yet",
        "lag": None,
        "lag_reason": "not sampled yet",
        "committed": "2026-11-20T10:42:07.123Z",
        "path": "/consumers/billing/owners/orders/2",
    }
    assert [member["consumer"] for member in document["members"]] == [ONE, TWO]
    assert document["members"][0]["session"] == "0x100"
    facts = document["group"]
    assert (facts["rule"], facts["expected_by"], facts["rebalancing"]) == ("range", "range", False)


def test_json_says_of_each_topic_how_many_threads_a_member_has_for_it(client: Client) -> None:
    registration = {"version": 1, "subscription": {"orders": 3, "clicks": 1}, "pattern": "static"}
    wild = {"version": 1, "subscription": {"ord.*": 2}, "pattern": "white_list"}
    ids = "/consumers/billing/ids"
    states.publish(
        {
            **states.healthy(),
            f"{ids}/{ONE}": states.znode(registration, owner=0x100),
            f"{ids}/{TWO}": states.znode(wild, owner=0x100),
            f"{ids}/torn": states.znode("{", owner=0x100),
        }
    )
    members = {one["consumer"]: one for one in client.get(URL, {"format": "json"}).json()["members"]}
    assert members[ONE]["threads"] == {"orders": 3, "clicks": 1}
    assert members[TWO]["threads"] == {"ord.*": 2}
    assert members["torn"]["threads"] is None
    assert members["torn"]["threads_reason"]
    page = Markup(client.get(URL))
    cells = page.texts(f"#{links.element_id('member', ONE)} td")
    assert cells[3] == "1–3"


def test_csv_has_a_line_for_each_partition(client: Client) -> None:
    states.publish(_tree())
    lines = client.get(URL, {"format": "csv", "q": "app-2"}).content.decode().splitlines()
    assert lines[0] == ("topic,partition,status,owner,expected,offset,in_kafka,log_end,lag,committed,path")
    assert lines[1:] == [
        f"orders,2,ok,{TWO}-0,{TWO}-0,12,,,,2026-11-20T10:42:07.123Z,/consumers/billing/owners/orders/2"
    ]


def test_each_verdict_has_its_words(client: Client) -> None:
    tree = _tree() | _owners("orders", {"0": f"{TWO}-0", "1": "billing_gone-1-1795171327000-0000cccc-0"})
    tree |= {
        "/consumers/billing/owners/orders/2": None,
        "/consumers/billing/offsets/clicks/0": states.znode("-4"),
    }
    tree |= _owners("payments", {"0": f"{ONE}-0"})
    states.publish({path: znode for path, znode in tree.items() if znode is not None})
    page = Markup(client.get(URL, {"sort": "status"}))
    assert page.texts("#partitions-rows span.severity") == [
        "✕ unowned",
        "▲ bad offset, only an offset",
        "▲ owned by another member",
        "▲ owner not registered",
        "● stray owner",
    ]
    assert page.texts("#partitions-rows span.gone") == ["gone-1-…-0000cccc-0"]
    page = Markup(client.get(URL, {"q": "is:unexpected"}))
    assert page.texts("#partitions-rows th") == ["orders", "payments"]


def test_log_end_and_lag_come_from_brokers_and_lag_keeps_its_sign(client: Client) -> None:
    tree = _tree()
    tree["/consumers/billing/offsets/orders/2"] = states.znode("99")
    ends: dict[int, LogEnds | Unknown] = {
        0: LogEnds(0, 25, 1.0),
        1: Unknown("cannot ask broker 2: refused"),
        2: LogEnds(0, 90, 9e9),
    }
    commits = GroupCommits(2, {("orders", 0): Commit(20, "")}, 1.0)
    samples = Samples(
        ends=Samples().ends.set("orders", ends), commits=Samples().commits.set("billing", commits)
    )
    states.publish(tree, samples=samples)
    rows = json.loads(client.get(URL, {"format": "json"}).content)["rows"]
    assert [(row["in_kafka"], row["log_end"], row["lag"]) for row in rows] == [
        (20, 25, 5),
        (None, None, None),
        (None, 90, -9),
    ]
    assert rows[1]["lag_reason"] == "cannot ask broker 2: refused"
    assert rows[1]["in_kafka_reason"] == "no offset was committed to Kafka"


def _publish_ends(ends: dict[int, LogEnds]) -> None:
    """The group whose offsets are 10, 11 and 12, and the logs that brokers told of."""
    samples = Samples(ends=Samples().ends.set("orders", ends))
    counted = lags.counted(states.snapshot(_tree()).state, samples)
    states.publish(_tree(), samples=samples, lags=counted)


def test_offsets_out_of_range_are_told_with_what_each_setting_does_about_them(client: Client) -> None:
    ends = {0: LogEnds(15, 25, 9e9), 1: LogEnds(0, 8, 9e9), 2: LogEnds(0, 90, 9e9)}
    _publish_ends(ends)
    page = Markup(client.get(URL))
    assert page.text("#out-of-range p.note").startswith("2 offsets of the group lie outside of the log.")
    rows = page.texts("#out-of-range tbody tr")
    assert len(rows) == 2
    assert "before the log's start" in rows[0]
    assert "at 15: 5 offsets no longer in the log" in rows[0]
    assert "at 25: 5 offsets no longer in the log, skips 10 offsets of the log" in rows[0]
    assert "behind its end" in rows[1]
    assert "at 0: reads 8 offsets again" in rows[1]
    assert "at 8: nothing of the log is skipped or read again" in rows[1]
    outside = client.get(URL, {"format": "json"}).json()["out_of_range"]
    assert outside["count"] == 2
    assert outside["offsets"][0]["latest"] == {"to": 25, "lost": 5, "skipped": 10, "again": 0}
    assert [(entry["partition"], entry["offset"], entry["kept_in"]) for entry in outside["offsets"]] == [
        (0, 10, "ZooKeeper"),
        (1, 11, "ZooKeeper"),
    ]


def test_a_group_whose_offsets_are_in_their_logs_says_nothing_of_that(client: Client) -> None:
    ends = dict.fromkeys(range(3), LogEnds(10, 12, 9e9))
    _publish_ends(ends)
    assert Markup(client.get(URL)).text("#out-of-range") == ""
    assert client.get(URL, {"format": "json"}).json()["out_of_range"] == {"count": 0, "offsets": []}


def test_a_wildcard_is_previewed_or_says_why_not(client: Client) -> None:
    tree = {
        **states.healthy(),
        **states.group("wild", {"wild_a-1795171327000-0000aaaa": ["(orders|clicks)"]}, pattern="white_list"),
        **states.group("odd", {"odd_a-1795171327000-0000aaaa": [r"(?<x>a)\k<x>"]}, pattern="white_list"),
    }
    states.publish(tree)
    page = Markup(client.get("/c/demo/groups/wild/"))
    assert "white list (orders|clicks): clicks, orders now" in page.text("#members-rows")
    assert page.texts("#partitions-rows th") == ["clicks", "orders", "orders", "orders"]
    assert "exclude.internal.topics=true" in page.text("#facts")
    page = Markup(client.get("/c/demo/groups/odd/"))
    assert page.text("#partitions-rows").startswith("What the group asks for cannot be told")
    assert "cannot preview: " in page.text("#members-rows")
    assert page.texts("p.note")[1].startswith("Not planned: odd_a-1795171327000-0000aaaa: cannot preview")


def test_idle_threads_are_named(client: Client) -> None:
    states.publish({**states.healthy(), **states.group("billing", {ONE: ["clicks"]}, threads=3)})
    page = Markup(client.get(URL))
    assert "app-1-…-0000aaaa-1, app-1-…-0000aaaa-2" in page.text("#facts")
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert document["group"]["idle_threads"] == [f"{ONE}-1", f"{ONE}-2"]


def test_a_group_that_has_just_moved_says_that_it_rebalances(client: Client) -> None:
    tree = _tree() | _owners("orders", {"0": f"{TWO}-0"})
    states.publish(tree, restless={"billing": states.TIME})
    page = Markup(client.get(URL))
    assert page.texts("#facts span.info") == ["rebalancing"]
    assert page.texts("#partitions-rows span.severity")[0] == "● owned by another member"
    states.publish(tree)
    page = Markup(client.get(URL))
    assert page.texts("#partitions-rows span.severity")[0] == "▲ owned by another member"


def test_the_coordinator_is_computed_from_zookeeper(client: Client) -> None:
    states.publish({**_tree(), **states.topic("__consumer_offsets", {0: [2, 1]})})
    page = Markup(client.get(URL))
    assert "broker 2 leads partition 0 of __consumer_offsets" in page.text("#facts")
    assert json.loads(client.get(URL, {"format": "json"}).content)["group"]["coordinator"]["broker"] == 2


def test_a_registration_that_does_not_parse_blocks_everybody_and_says_so(client: Client) -> None:
    tree = _tree()
    tree[f"/consumers/billing/ids/{TWO}"] = states.znode("{")
    tree["/consumers/billing/ids/shut"] = Unreadable("no right to read it")
    states.publish(tree)
    page = Markup(client.get(URL))
    assert any("makes the rebalance of every member fail" in note for note in page.texts("p.note"))
    assert page.texts("#members-rows a")[0] == "?"
    assert "not readable" in page.text("#members-rows")


def test_a_group_with_only_offsets_says_what_is_missing(client: Client) -> None:
    states.publish({**states.healthy(), **states.group("billing", {}, offsets={"orders": {0: 1}})})
    page = Markup(client.get(URL))
    assert page.texts("p.note") == ["Only offsets: no member is registered now."]
    assert page.text("#members-rows") == "No member is registered: nobody reads for this group now."
    assert page.texts("#partitions-rows span.severity") == ["● only an offset"]


def test_a_group_that_is_not_there_is_a_404_that_can_still_come_alive(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get("/c/demo/groups/biling/")
    page = Markup(response)
    assert response.status_code == 404
    assert page.text("p.problem").startswith("No group named “biling” is in ZooKeeper.")
    assert len(page.all("#partitions-rows")) == 1
    answer = client.get("/c/demo/groups/biling/", {"format": "json"})
    assert (answer.status_code, json.loads(answer.content)["total"]) == (404, 0)


def test_the_lags_of_partitions_add_up_to_that_of_the_group_whenever_brokers_told_what(
    client: Client,
) -> None:
    """One offset is newer than what is known of its log's end, of the other's the end then is reckoned."""
    offsets = {("orders", 0): Commit(40, ""), ("orders", 1): Commit(140, "")}
    ends = {0: LogEnds(0, 25, 10.0), 1: LogEnds(0, 200, 20.0, 100, 10.0)}
    samples = Samples(
        ends=Samples().ends.set("orders", ends),
        commits=Samples().commits.set("modern", GroupCommits(2, offsets, 15.0)),
        listings=Samples().listings.set(2, Listing(frozenset({"modern"}), 1.0)),
    )
    counted = lags.counted(states.snapshot(states.healthy()).state, samples)
    states.publish(states.healthy(), samples=samples, lags=counted)
    answer = json.loads(client.get("/c/demo/groups/modern/", {"format": "json"}).content)
    assert [(row["log_end"], row["lag"]) for row in answer["rows"]] == [(25, 0), (150, 10)]
    assert [topic["lag"] for topic in answer["topics"]] == [10]


def test_a_group_that_brokers_alone_know_shows_what_its_coordinator_tells(client: Client) -> None:
    commits = GroupCommits(2, {("orders", 1): Commit(20, "")}, 1.0)
    samples = Samples(
        ends=Samples().ends.set("orders", {1: LogEnds(0, 25, 2.0)}),
        commits=Samples().commits.set("modern", commits),
        listings=Samples().listings.set(2, Listing(frozenset({"modern"}), 1.0)),
    )
    snapshot = states.publish(states.healthy(), samples=samples)
    assert group.broker_demand(snapshot, PageKey("demo", "group", ("modern",))) == (
        {"orders"},
        {"modern": ()},
    )
    assert group.broker_demand(snapshot, PageKey("demo", "group", ("made-up",))) == ((), {})
    answer = json.loads(client.get("/c/demo/groups/modern/", {"format": "json"}).content)
    assert [(row["topic"], row["partition"], row["in_kafka"], row["lag"]) for row in answer["rows"]] == [
        ("orders", 1, 20, 5)
    ]
    page = Markup(client.get("/c/demo/groups/modern/"))
    assert "The group keeps itself in Kafka." in page.text("#facts")
    assert not page.all("p.aside")
    assert client.get("/c/demo/groups/made-up/").status_code == 404


def test_before_the_first_load_nobody_says_that_a_group_is_gone(client: Client) -> None:
    states.publish(None, phase=Phase.CONNECTING)
    response = client.get(URL)
    assert response.status_code == 200
    assert "before the first load" in Markup(response).text("#facts")


def test_a_bad_query_falls_back_and_says_so(client: Client) -> None:
    states.publish(_tree())
    response = client.get(URL, {"sort": "nothing", "page": "9"})
    assert Markup(response).texts("p.note")[0] == "“nothing” is no column to sort by; sorted by topic."
    page = Markup(client.get(URL, {"q": "nobody"}))
    assert page.text("#partitions-rows") == "No partition matches q=nobody. Clear filter"


def test_layout_07_counts_in_bytes_and_has_no_log_ends(client: Client) -> None:
    states.publish(
        {
            "/brokers/ids/1": states.znode("h-1:h:9092"),
            "/brokers/topics/t": states.znode(),
            "/brokers/topics/t/1": states.znode("12", owner=1),
            "/consumers/old/ids/old_h-1795171327000-0000aaaa": states.znode('{ "t": 1 }', owner=1),
            **_owners("t", {f"1-{part}": "old_h-1795171327000-0000aaaa-0" for part in range(12)}, "old"),
            "/consumers/old/offsets/t/1-0": states.znode("123456"),
        }
    )
    page = Markup(client.get("/c/demo/groups/old/"))
    assert page.texts("thead th")[8:] == [
        "Topic ▲",
        "Partition",
        "Verdict",
        "Owner",
        "Expected owner",
        "Offset",
        "Committed",
    ]
    assert "as positions in bytes (0.7)" in page.text("#facts")
    assert page.texts("#partitions-rows td.num")[:2] == ["1-0", "123 456"]
    # As numbers: 1-2 comes before 1-10.
    numbers = [row.xpath("td[1]")[0].text for row in page.all("#partitions-rows tr")]
    assert numbers[:4] == ["1-0", "1-1", "1-2", "1-3"]
    assert page.texts("#partitions-rows span.severity") == ["✓ as expected"] * 12


def test_one_commit_is_one_row_of_an_open_page(client: Client) -> None:
    states.publish(_tree())
    render, key = renderer.Renderer(), PageKey("demo", "group", ("billing",))
    before = {part.id: part for part in render.parts(key).parts}
    touched = states.change("/consumers/billing/offsets/orders/1", states.znode("77"), 6)
    assert render.is_affected(key, "demo", touched)
    changed = [part.id for part in render.parts(key).parts if part != before[part.id]]
    assert changed == ["partitions-rows"]
    touched = states.change("/consumers/other/offsets/orders/1", states.znode("77"), 7)
    render.parts(key)
    touched = states.change("/consumers/other/offsets/orders/1", states.znode("78"), 8)
    assert not render.is_affected(key, "demo", touched)


@pytest.mark.parametrize("name", [name for name in recorded.TRIED if name != recorded.HOSTILE])
def test_every_recorded_group_has_a_row_for_each_owner_and_offset(client: Client, name: str) -> None:
    raw = recorded.raw(name)
    states.publish(dict(recorded.load(name)))
    below = recorded.children(raw)
    for name_of in below.get("/consumers", []):
        address = links.group("demo", name_of)
        document = json.loads(client.get(address, {"format": "json", "size": "1000"}).content)
        held = {
            (topic, part)
            for what in ("owners", "offsets")
            for topic in below.get(f"/consumers/{name_of}/{what}", [])
            for part in below[f"/consumers/{name_of}/{what}/{topic}"]
        }
        rows = {(row["topic"], str(row["partition"])): row for row in document["rows"]}
        assert held <= rows.keys()
        assert len(document["members"]) == len(below.get(f"/consumers/{name_of}/ids", []))
        for (topic, part), row in rows.items():
            for what, field in (("owners", "owner"), ("offsets", "offset")):
                path = f"/consumers/{name_of}/{what}/{topic}/{part}"
                text = raw[path]["text"] if path in raw else None
                assert row[field] == (int(text) if text and field == "offset" else text)
        assert client.get(address).status_code == 200


def test_fifty_partitions_fit_into_the_budget(client: Client) -> None:
    tree = {**states.healthy(), **states.topic("wide-topic-of-some-team", {n: [1, 2] for n in range(200)})}
    one = "a-rather-long-group-name_host-name-01-1795171327000-0000aaaa"
    tree |= states.group(
        "a-rather-long-group-name",
        {one: ["wide-topic-of-some-team"]},
        owners={"wide-topic-of-some-team": list(range(200))},
        offsets={"wide-topic-of-some-team": dict.fromkeys(range(200), 123456)},
    )
    states.publish(tree)
    response = client.get("/c/demo/groups/a-rather-long-group-name/")
    page = Markup(response)
    assert len(page.all("#partitions-rows tr")) == 50
    assert len(response.content) <= MOST_BYTES + 1024  # of a picture
    assert len(page.ids()) == len(set(page.ids()))


def test_brokers_are_asked_about_what_the_page_shows() -> None:
    snapshot = states.publish(_tree())
    topics, groups = group.broker_demand(snapshot, PageKey("demo", "group", ("billing",)))
    assert (topics, groups) == ({"orders"}, {"billing": {"orders"}})
    assert group.broker_demand(snapshot, PageKey("demo", "group", ("nobody",))) == ((), {})


def test_it_says_how_far_its_offsets_have_moved_to_kafka(client: Client) -> None:
    states.publish(_tree())
    assert "? unknown not sampled yet" in _facts(client)
    told = Migration(Stage.DUAL_COMMIT, "offsets move in ZooKeeper and in Kafka", "bounce them")
    states.publish(_tree(), migrations={"billing": told})
    assert "● dual commit offsets move in ZooKeeper and in Kafka. Next: bounce them" in _facts(client)
    facts = json.loads(client.get(URL, {"format": "json"}).content)["group"]
    assert facts["migration"]["stage"] == "dual commit"


def test_where_offsets_are_is_told_from_both_places(client: Client) -> None:
    commits = GroupCommits(2, {("orders", 0): Commit(20, "")}, 1.0)
    samples = Samples(commits=Samples().commits.set("billing", commits))
    states.publish(_tree(), samples=samples)
    assert "in ZooKeeper and in Kafka" in Markup(client.get(URL)).texts("#facts dd")
    only = states.group("billing", {ONE: ["orders"]})
    states.publish({**states.healthy(), **only}, samples=samples)
    assert "in Kafka" in Markup(client.get(URL)).texts("#facts dd")
    states.publish({**states.healthy(), **only})
    told = Markup(client.get(URL)).texts("#facts dd")
    assert "not in ZooKeeper: kept in Kafka, not visible here, or never committed" in told


def test_where_no_topic_keeps_offsets_none_is_in_kafka_and_that_is_known(client: Client) -> None:
    samples = Samples(commits=Samples().commits.set("billing", GroupCommits(None, {}, 1.0)))
    states.publish(_tree(), samples=samples)
    assert "in ZooKeeper" in Markup(client.get(URL)).texts("#facts dd")
    assert "no offset was committed to Kafka" in client.get(URL).content.decode()
    states.publish(_tree())
    assert "no offset was committed to Kafka" not in client.get(URL).content.decode()


def test_members_that_follow_different_rules_are_told_apart(client: Client) -> None:
    topics = ["orders", "payments", "clicks"]
    plans = {rule: rules.assign(rule, _DEMAND) for rule in (Rule.RANGE, Rule.ROUND_ROBIN_HYPHEN)}
    tree = {**states.healthy(), **states.group("billing", {ONE: topics, TWO: topics})}
    for member, rule in ((ONE, Rule.ROUND_ROBIN_HYPHEN), (TWO, Rule.RANGE)):
        for topic, keys in plans[rule].owners.items():
            mine = {key: thread for key, thread in keys.items() if thread and thread.startswith(member)}
            tree |= _owners(topic, mine)
    states.publish(tree)
    notes = [note for note in Markup(client.get(URL)).texts("p.note") if "follow no rule" in note]
    assert len(notes) == 1
    assert "1 by range (0.8 to 1.1, the default)" in notes[0]


_DEMAND = AssignmentContext(
    {member: dict.fromkeys(("orders", "payments", "clicks"), 1) for member in (ONE, TWO)},
    {"orders": ("0", "1", "2"), "payments": ("0", "1"), "clicks": ("0",)},
)


def _facts(client: Client) -> str:
    return Markup(client.get(URL)).text("#facts")


def test_what_moves_at_every_commit_is_no_change_worth_a_mark(client: Client) -> None:
    states.publish(_tree())
    page = Markup(client.get("/c/demo/groups/billing/"))
    quiet = [heading.text_content().strip("▲▼ \n") for heading in page.root.xpath("//th[@data-quiet]")]
    assert quiet == ["Offset", "In Kafka", "Log end", "Lag", "Committed"]
