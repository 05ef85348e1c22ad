from __future__ import annotations

import json

from django.test import Client

from tests import lags
from tests.web import states
from tests.web.markup import Markup
from zkdash.broker.samples import LogEnds, Samples, Unknown
from zkdash.cluster.checks import Observations
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.frame import links
from zkdash.web.topics import topic
from zkdash.zk.connection.session import Phase
from zkdash.znode import Unreadable, Znode

URL = "/c/demo/topics/orders/"


def test_it_shows_each_partition_with_what_is_wrong(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL))
    assert [row.get("id") for row in page.all("#partitions-rows tr")] == [
        "partition-0",
        "partition-1",
        "partition-2",
    ]
    assert page.texts("#partition-2 td")[:5] == ["1", "3 1 2", "1 2 3 out", "4", "12"]
    (znode,) = page.all("#partition-2 th a")
    assert znode.get("title") == "/brokers/topics/orders/partitions/2/state"
    assert page.text("h1") == "orders"
    assert page.texts("#config code") == ["retention.ms", "1000"]


def test_json_names_the_fields_as_kafka_does(client: Client) -> None:
    states.publish(states.sick())
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert (document["page"], document["total"]) == ("topic", 3)
    assert document["rows"][2] == {
        "partition": 2,
        "leader": 1,
        "replicas": [3, 1, 2],
        "isr": [1, 2],
        "leader_epoch": 4,
        "controller_epoch": 12,
        "status": "warning",
        "changed": "2026-11-20T10:42:07.123Z",
        "path": "/brokers/topics/orders/partitions/2/state",
    }


def test_absent_unparsable_and_no_leader_are_three_things(client: Client) -> None:
    tree = states.healthy()
    root = "/brokers/topics/orders/partitions"
    tree[f"{root}/0/state"] = states.state(-1, [2])
    tree[f"{root}/1/state"] = states.znode("{nope")
    del tree[f"{root}/2/state"]
    states.publish(tree)
    page = Markup(client.get(URL))
    assert [page.texts(f"#partition-{number} td")[0] for number in (0, 1, 2)] == ["none", "?", "—"]
    rows = json.loads(client.get(URL, {"format": "json"}).content)["rows"]
    assert [row["leader"] for row in rows] == [-1, None, None]
    assert rows[2]["leader_reason"] == "no state znode: the controller has not elected a leader yet"
    assert rows[1]["leader_reason"]


def test_a_topic_that_is_not_there_is_a_404_that_can_still_come_alive(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get("/c/demo/topics/ordres/")
    page = Markup(response)
    assert response.status_code == 404
    assert page.text("p.problem") == "No topic named “ordres” is in ZooKeeper."
    assert len(page.all("#partitions-rows")) == 1
    answer = client.get("/c/demo/topics/ordres/", {"format": "json"})
    assert answer.status_code == 404
    assert json.loads(answer.content)["error"] == "No topic named “ordres” is in ZooKeeper."


def test_before_the_first_load_nobody_says_that_a_topic_is_gone(client: Client) -> None:
    states.publish(None, phase=Phase.CONNECTING)
    response = client.get(URL)
    assert response.status_code == 200
    assert "before the first load" in Markup(response).text("#facts")


def test_a_topic_of_layout_07_is_shown_broker_by_broker(client: Client) -> None:
    states.publish(
        {
            "/brokers/ids/1": states.znode("h-1:h:9092"),
            "/brokers/topics/t": states.znode(),
            "/brokers/topics/t/1": states.znode("4", owner=1),
            "/brokers/topics/t/2": states.znode("many", owner=1),
        }
    )
    page = Markup(client.get("/c/demo/topics/t/"))
    assert page.texts("#broker-1 td")[0] == "4"
    assert page.texts("#broker-2 td")[0] == "?"
    assert page.texts("thead th") == ["Broker ▲", "Partitions", "Status", "Changed", "Path", "Group"]


def test_partitions_are_filtered_and_sorted_by_the_address(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL, {"sort": "-partition", "q": "broker:3"}))
    assert page.texts("#partitions-rows th") == ["2", "1", "0"]
    page = Markup(client.get(URL, {"status": "critical"}))
    assert page.text("#partitions-rows") == "No partition matches status=critical. Clear filter"


def test_it_leads_to_the_groups_that_consume_it_with_what_each_has_left_to_read(client: Client) -> None:
    ends: dict[int, LogEnds | Unknown] = {
        0: LogEnds(0, 25, 1.0),
        1: LogEnds(0, 30, 9e9),
        2: Unknown("cannot ask broker 3: refused"),
    }
    tree = {
        **states.healthy(),
        **states.group("billing", {}, offsets={"orders": {0: 5, 1: 31}}),
        **states.group("audit", {}, offsets={"orders": {2: 5}}),
        **states.group("idle", {"idle_h-1-00000000": ["orders"]}),
    }
    samples = Samples(ends=Samples().ends.set("orders", ends))
    counted = lags.counted(states.snapshot(tree).state, samples)
    states.publish(tree, samples=samples, lags=counted)
    page = Markup(client.get(URL))
    assert [link.get("href") for link in page.all("#consumers-rows a")] == [
        links.group("demo", name) for name in ("billing", "audit", "idle")
    ]
    assert [page.texts(f"#{links.element_id('consumer', name)} td")[:2] for name in ("billing", "audit")] == [
        ["20", "20"],
        ["unknown", "unknown"],
    ]
    told = json.loads(client.get(URL, {"format": "json"}).content)["groups"]
    assert [(row["group"], row["lag"], row.get("lag_reason")) for row in told] == [
        ("billing", 20, None),
        ("audit", None, "cannot ask broker 3: refused"),
        ("idle", None, "not sampled yet"),
    ]


def test_brokers_are_asked_about_what_the_page_shows() -> None:
    snapshot = states.publish({**states.healthy(), **states.group("billing", {}, offsets={"orders": {0: 5}})})
    assert topic.broker_demand(snapshot, PageKey("demo", "topic", ("orders",))) == (
        ("orders",),
        {"billing": ("orders",)},
    )
    assert topic.broker_demand(snapshot, PageKey("demo", "topic", ("nothing",))) == ((), {})


def test_spread_and_skew_say_what_they_were_computed_of(client: Client) -> None:
    skewed = states.topic("skewed", {0: [1, 2], 1: [1, 2], 2: [1, 3], 3: [1, 3]})
    states.publish({**states.brokers(1, 2, 3, 4), **skewed})
    page = Markup(client.get("/c/demo/topics/skewed/"))
    assert page.texts("#skew dl.facts dd") == ["75 %", "33.3 %", "33.3 %", "100 %"]
    (spread, replicas, leaders, preferred) = page.texts("#skew details dd")
    assert spread.startswith("3 of 4 registered brokers hold a replica of it. The share")
    assert replicas.startswith("1 of 3 brokers hold more than 3 replicas: 1 (4). The share")
    assert leaders.startswith("1 of 3 brokers lead more than 2 partitions: 1 (4). The share")
    assert preferred.startswith("4 of 4 partitions that have a leader")
    told = json.loads(client.get("/c/demo/topics/skewed/", {"format": "json"}).content)["skew"]
    assert told == {
        "brokers_spread_percent": 75.0,
        "brokers_skew_percent": 33.3,
        "brokers_leader_skew_percent": 33.3,
        "preferred_leaders_percent": 100.0,
        "even_replicas": 3,
        "even_leaders": 2,
        "skewed_brokers": [1],
        "leader_skewed_brokers": [1],
    }


def test_a_topic_without_replicas_has_no_skew(client: Client) -> None:
    states.publish({"/brokers/topics/orders": states.znode(), "/brokers/topics/orders/1": states.znode("3")})
    assert Markup(client.get("/c/demo/topics/orders/")).all("#skew") == []
    states.publish(states.brokers(1))
    page = Markup(client.get("/c/demo/topics/absent/"))
    assert page.text("#skew") == ""


def test_each_override_says_what_it_does_or_what_is_wrong_with_it(client: Client) -> None:
    config = {"retention.ms": "1000", "min.insync.replicas": "none", "made.up": "1"}
    states.publish(states.healthy() | states.topic("orders", {0: [1]}, config=config))
    page = Markup(client.get(URL))
    assert page.text("#config summary") == "3 config overrides"
    assert page.texts("#config tbody th") == ["made.up", "min.insync.replicas", "retention.ms"]
    told = page.texts("#config td.text")
    assert told[0] == '"made.up" is not an option of a topic that Kafka 0.8.1 to 3.9 knows.'
    assert told[1].endswith('"none" is not a value that min.insync.replicas can have.')
    assert told[2] == "how old messages may grow before their segment goes; -1 without limit"
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert document["config"] == {"overrides": config}


def test_a_config_that_is_not_to_be_had_is_not_an_empty_one(client: Client) -> None:
    tree = states.healthy() | {"/config/topics/orders": states.znode("{nope")}
    states.publish(tree)
    reason = "not JSON: object keys must be strings at byte 1"
    assert Markup(client.get(URL)).text("#options p.note") == f"The config is not to be had: {reason}"
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert document["config"] == {"overrides": None, "overrides_reason": reason}


def _acl(principal: str) -> Znode:
    entry = {"principal": principal, "permissionType": "Allow", "operation": "Read", "host": "*"}
    return states.znode({"version": 1, "acls": [entry]})


def test_the_acls_that_hold_for_a_topic_are_shown_with_how_they_name_it(client: Client) -> None:
    states.publish(
        states.healthy()
        | {
            "/kafka-acl/Topic/orders": _acl("User:own"),
            "/kafka-acl/Topic/*": _acl("User:all"),
            "/kafka-acl/Topic/order": _acl("User:other"),
            "/kafka-acl/Group/orders": _acl("User:group"),
            "/kafka-acl-extended/prefixed/Topic/ord": _acl("User:prefix"),
            "/kafka-acl-extended/prefixed/Topic/ordx": _acl("User:no"),
        }
    )
    rows = json.loads(client.get(URL, {"format": "json"}).content)["acls"]
    assert [(row["named"], row["principal"]) for row in rows] == [
        ("this topic", "User:own"),
        ("every topic", "User:all"),
        ("begins with ord", "User:prefix"),
    ]
    page = Markup(client.get(URL))
    assert page.text("#access summary") == "3 ACL entries"
    assert page.texts("#access tbody td")[:2] == ["this topic", "User:own"]


def test_a_topic_that_no_acl_names_says_so_only_where_there_are_acls(client: Client) -> None:
    states.publish(states.healthy())
    assert "ACL" not in Markup(client.get(URL)).text("#beside")
    states.publish(states.healthy() | {"/kafka-acl/Topic/other": _acl("User:x")})
    assert Markup(client.get(URL)).text("#beside p.aside") == "No ACL is about this topic."
    states.publish(states.healthy() | {"/kafka-acl": Unreadable("no right to read it")})
    assert Markup(client.get(URL)).text("#beside p.note") == (
        "/kafka-acl is not readable: no right to read it"
    )


def test_notifications_about_a_topic_are_shown_with_their_age(client: Client) -> None:
    states.publish(
        states.healthy()
        | {
            "/config/changes/config_change_0000000001": states.znode(
                {"version": 2, "entity_path": "topics/orders"}
            ),
            "/config/changes/config_change_0000000002": states.znode(
                {"version": 2, "entity_path": "topics/clicks"}
            ),
            "/kafka-acl-extended-changes/acl_changes_0000000001": states.znode(
                {"version": 1, "resourceType": "TOPIC", "name": "ord", "patternType": "PREFIXED"}
            ),
            "/isr_change_notification/isr_change_0000000001": states.znode(
                {"version": 1, "partitions": [{"topic": "orders", "partition": 2}]}
            ),
        }
    )
    page = Markup(client.get(URL))
    assert page.text("#pending summary") == "3 notifications about it in ZooKeeper"
    assert len(page.all("#pending time")) == 3
    rows = json.loads(client.get(URL, {"format": "json"}).content)["notifications"]
    assert [row["about"] for row in rows] == ["topic orders", "orders 2", "TOPIC ord (prefixed)"]


def test_a_topic_of_07_has_no_options_and_no_rights(client: Client) -> None:
    states.publish(
        {"/brokers/ids/1": states.znode("h-1:h:1"), "/brokers/topics/orders": states.znode()}
        | {"/brokers/topics/orders/1": states.znode("2")}
    )
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert (document["config"], document["acls"], document["notifications"]) == ({}, [], [])
    page = Markup(client.get(URL))
    assert (page.text("#options"), page.text("#beside")) == ("", "")


def test_it_is_looked_at_again_when_rights_or_notifications_change() -> None:
    key = PageKey("demo", "topic", ("orders",))
    for area in ("acls", "notifications"):
        assert topic.PAGE.shows(key, ChangedAreas(frozenset({area})))
    assert not topic.PAGE.shows(key, ChangedAreas(frozenset({"configs", "groups"})))


def test_its_status_agrees_with_the_check_that_names_it_in_the_list_and_in_json(client: Client) -> None:
    standing = {"orders": ((Severity.CRITICAL, "shares its topic_id"),)}
    states.publish(states.healthy(), observations=Observations(standing=standing))
    assert "shares its topic_id" in Markup(client.get(URL)).text("#facts")
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert (document["status"], document["status_words"]) == ("critical", "shares its topic_id")
    listed = Markup(client.get("/c/demo/topics/"))
    assert listed.texts("#topics-rows th")[0] == "orders"
    assert listed.text("#count-critical") == "1"
