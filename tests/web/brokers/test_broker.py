from __future__ import annotations

import json

import pytest
from django.test import Client

from tests import recorded
from tests.web import states
from tests.web.markup import MOST_BYTES, Markup
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.kafka import secrets
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.frame import links
from zkdash.web.serving import renderer
from zkdash.zk.connection.session import Phase
from zkdash.znode import Unreadable, Znode

URL = "/c/demo/brokers/3/"
HOSTILE = ["a b", "100%", "a%2Fb", '"><img src=x onerror=alert(1)>', "\u202egnp.exe", "..", "{{ 7 }}"]


def _facts(page: Markup) -> dict[str, str]:
    return dict(zip(page.texts("dl.facts dt"), page.texts("dl.facts dd"), strict=True))


def test_it_shows_what_the_broker_says_of_itself(client: Client) -> None:
    tree = states.healthy()
    registration = {
        "version": 5,
        "host": "h",
        "port": 9092,
        "jmx_port": 9999,
        "timestamp": "1795171327123",
        "endpoints": ["PLAINTEXT://h:9092", "OUTSIDE://[::1]:9093"],
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT", "OUTSIDE": "SASL_SSL"},
        "rack": "r",
        "features": {"metadata.version": {"min_version": 1, "max_version": 19}},
    }
    tree["/brokers/ids/3"] = states.znode(registration, owner=0x100004FA7BD0002)
    states.publish({**tree, **states.controller(3)})
    page = Markup(client.get(URL))
    assert page.text("h1") == "Broker 3"
    assert _facts(page) == {
        "Status": "✓ ok Why is this so?",
        "Path": "/brokers/ids/3 Copy",
        "Host:port": "h:9092",
        "Endpoints": "PLAINTEXT://h:9092OUTSIDE://[::1]:9093 (SASL_SSL)",
        "Rack": "r",
        "JMX port": "9999",
        "Version": "5",
        "Features": "metadata.version 1 to 19",
        "Session": "0x100004fa7bd0002 Copy",
        "Registered": "2026-11-20 10:42:07",
        "Broker epoch": "1",
        "Role": "controller",
        "Leaders": "2, 0 % against the mean",
        "Replicas": "5, 0 % against the mean",
        "Preferred led": "2 of 2",
        "Leader skew": "0 %",
        "Under-replicated": "0",
    }


def test_its_partitions_say_what_it_is_to_them(client: Client) -> None:
    tree = states.healthy()
    tree["/brokers/topics/orders/partitions/0/state"] = states.state(1, [1, 2])
    tree["/brokers/topics/orders/partitions/1/state"] = states.znode("{nope")
    del tree["/brokers/topics/orders/partitions/2/state"]
    states.publish(tree)
    page = Markup(client.get(URL))
    assert [" ".join(cell.split()) for cell in page.texts("#replicas-rows th")] == [
        "clicks",
        "orders",
        "orders",
        "orders",
        "payments",
    ]
    cells = page.texts("#replicas-rows td")
    assert [cells[start : start + 5] for start in range(0, 25, 5)] == [
        ["0", "leader", "yes", "preferred", "✓ ok"],
        ["0", "follower", "out", "", "▲ under-replicated"],
        ["1", "?", "?", "", "? unparsable"],
        ["2", "—", "—", "preferred", "✕ no state"],
        ["1", "follower", "yes", "", "✓ ok"],
    ]
    assert page.text("#showing") == "Showing 5 of 5 partitions"
    assert page.text("#count-warning") == "1"


def test_json_has_the_partitions_and_the_broker(client: Client) -> None:
    states.publish(states.sick())
    document = json.loads(client.get("/c/demo/brokers/2/", {"format": "json"}).content)
    assert (document["page"], document["total"]) == ("broker", 5)
    assert document["rows"][0] == {
        "topic": "orders",
        "partition": 0,
        "role": "follower",
        "in_sync": True,
        "preferred": False,
        "status": "warning",
    }
    broker = document["broker"]
    assert (broker["id"], broker["leaders"], broker["session"], broker["czxid"]) == (2, 2, "0x100", 1)
    assert broker["listener_security_protocol_map"] == {"PLAINTEXT": "PLAINTEXT"}
    assert broker["path"] == "/brokers/ids/2"


def test_csv_has_the_partitions(client: Client) -> None:
    states.publish(states.sick())
    response = client.get(URL, {"format": "csv", "q": "clicks"})
    assert response.content.decode().splitlines() == [
        "topic,partition,role,in_sync,preferred,status",
        "clicks,0,follower,True,True,critical",
    ]


def test_a_broker_that_is_not_registered_still_has_what_is_assigned_to_it(client: Client) -> None:
    states.publish(states.sick())
    response = client.get(URL)
    page = Markup(response)
    assert response.status_code == 200
    assert page.text("#facts p.note") == (
        "The broker is not registered: what stands here is what topics say of it."
    )
    facts = _facts(page)
    assert facts["Status"] == "✕ not registered, 4 under-replicated Why is this so?"
    assert (facts["Replicas"], facts["Leader skew"]) == ("5", "100 %")
    assert "Session" not in facts
    found = Markup(client.get(page.all("dl.facts a")[1].get("href").replace("?", URL + "?")))
    assert found.text("#showing") == "Showing 2 of 2 that match, 5 partitions in all"
    broker = json.loads(client.get(URL, {"format": "json"}).content)["broker"]
    assert (broker["session"], broker["session_reason"]) == (None, "the broker is not registered")


def test_a_registration_that_does_not_parse_says_why(client: Client) -> None:
    states.publish({**states.healthy(), "/brokers/ids/3": states.znode("{nope")})
    page = Markup(client.get(URL))
    assert page.text("#facts p.note").startswith("The registration is not to be had: ")
    assert _facts(page)["Status"] == "? unparsable Why is this so?"
    assert "Session" in _facts(page)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("7", "No broker 7 is registered in ZooKeeper, and no partition is assigned to it."),
        ("x", "“x” is not a broker id: broker ids are numbers from 0 to 2147483647."),
        ("03", "“03” is not a broker id: broker ids are numbers from 0 to 2147483647."),
        ("-1", "“-1” is not a broker id: broker ids are numbers from 0 to 2147483647."),
        ("9" * 99, f"“{'9' * 99}” is not a broker id: broker ids are numbers from 0 to 2147483647."),
    ],
)
def test_a_broker_that_is_not_there_is_a_404_that_can_still_come_alive(
    client: Client, name: str, sentence: str
) -> None:
    states.publish(states.healthy())
    response = client.get(f"/c/demo/brokers/{name}/")
    page = Markup(response)
    assert response.status_code == 404
    assert page.text("p.problem") == sentence
    assert len(page.all("#replicas-rows")) == 1
    answer = client.get(f"/c/demo/brokers/{name}/", {"format": "json"})
    assert (answer.status_code, json.loads(answer.content)["error"]) == (404, sentence)


def test_before_the_first_load_nobody_says_that_a_broker_is_gone(client: Client) -> None:
    states.publish(None, phase=Phase.CONNECTING)
    response = client.get(URL)
    assert response.status_code == 200
    assert "before the first load" in Markup(response).text("#facts")


def test_a_broker_without_partitions_says_so(client: Client) -> None:
    states.publish(states.brokers(3))
    assert Markup(client.get(URL)).text("#replicas-rows") == (
        "No partition is assigned to this broker, and it leads none."
    )


def test_partitions_are_filtered_and_sorted_by_the_address(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL, {"sort": "-topic", "q": "orders"}))
    assert page.texts("#replicas-rows td.num") == ["2", "1", "0"]
    page = Markup(client.get(URL, {"q": "role:leader"}))
    assert page.text("#replicas-rows") == "No partition matches q=role:leader. Clear filter"


def test_a_bad_query_falls_back_and_says_so(client: Client) -> None:
    states.publish(states.healthy())
    assert Markup(client.get(URL, {"sort": "<b>", "page": "x"})).texts("p.note") == [
        "“<b>” is no column to sort by; sorted by topic.",
        "“x” is not a page; showing the first.",
    ]


def test_a_broker_of_layout_07_is_shown_topic_by_topic(client: Client) -> None:
    states.publish(
        {
            "/brokers/ids/1": states.znode("h-1795171327123:h:9092", owner=1),
            "/brokers/topics/t": states.znode(),
            "/brokers/topics/t/1": states.znode("4", owner=1),
            "/brokers/topics/u": states.znode(),
            "/brokers/topics/u/1": states.znode("many", owner=1),
        }
    )
    page = Markup(client.get("/c/demo/brokers/1/", {"sort": "-partitions"}))
    assert page.texts("thead th") == ["Topic", "Partitions ▼", "Status", "Changed", "Path"]
    assert page.texts("#replicas-rows th") == ["t", "u"]
    assert page.texts("#replicas-rows td.num") == ["4", "?"]
    facts = _facts(page)
    assert (facts["Creator"], facts["Partitions"]) == ("h-1795171327123", "4 (layout 0.7)")
    assert "Leaders" not in facts


@pytest.mark.parametrize("name", HOSTILE)
def test_any_topic_is_shown_escaped_and_can_be_followed(client: Client, name: str) -> None:
    states.publish({**states.brokers(3), **states.topic(name, {0: [3]})})
    page = Markup(client.get(URL))
    assert page.texts("#replicas-rows th bdi") == [name]
    assert page.all("img") == []
    (link,) = page.all("#replicas-rows th a")
    assert link.get("href") == links.topic("demo", name)


def test_a_topics_leader_leads_to_its_broker(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get("/c/demo/topics/orders/"))
    hrefs = [link.get("href") for link in page.all("#partitions-rows td.num a")]
    assert hrefs == ["/c/demo/brokers/1/", "/c/demo/brokers/2/", "/c/demo/brokers/1/"]


def test_topics_brokers_and_the_controller_touch_the_page() -> None:
    asked, key = renderer.Renderer(), PageKey("demo", "broker", ("3",))
    states.publish(states.healthy())
    asked.parts(key)
    for area in ("topics", "brokers", "controller"):
        assert asked.is_affected(key, "demo", ChangedAreas(frozenset({area})))
    assert not asked.is_affected(key, "demo", ChangedAreas(frozenset({"groups"})))


@pytest.mark.parametrize("name", recorded.TRIED)
def test_every_broker_of_every_recorded_tree_has_a_page(client: Client, name: str) -> None:
    state = states.publish(dict(recorded.load(name))).state
    expected = {} if name == recorded.HOSTILE else recorded.loads(name)
    for number in broker_rows.ids(state):
        url = f"/c/demo/brokers/{number}/"
        assert client.get(url).status_code == 200
        document = json.loads(client.get(url, {"format": "json", "size": "1000"}).content)
        assert client.get(url, {"format": "csv"}).status_code == 200
        if number in expected and not name.startswith("0.7"):
            roles = [row["role"] for row in document["rows"]]
            assert (roles.count("leader"), len(roles)) == expected[number][:2]


def test_fifty_rows_fit_into_the_budget_and_every_id_is_unique(client: Client) -> None:
    tree = states.brokers(1, 2, 3)
    for number in range(60):
        name = f"a-rather-long-topic-name.of-some-team.v{number}"
        tree |= states.topic(name, {0: [1, 2, 3], 1: [3, 2, 1]}, isr={0: [1]})
    states.publish(tree)
    response = client.get(URL)
    page = Markup(response)
    assert len(page.all("#replicas-rows tr")) == 50
    assert len(response.content) <= MOST_BYTES
    assert len(page.ids()) == len(set(page.ids()))
    assert page.text("#pager span") == "page 1 of 3"


def _config(**config: str) -> Znode:
    return states.znode({"version": 1, "config": config})


def test_the_dynamic_settings_of_the_broker_and_of_every_broker_are_shown(client: Client) -> None:
    states.publish(
        states.healthy()
        | {
            "/config/brokers/3": _config(
                **{"leader.replication.throttled.rate": "7", "log.cleaner.threads": secrets.HIDDEN}
            ),
            "/config/brokers/<default>": _config(
                **{"leader.replication.throttled.rate": "9", "ssl.keystore.password": secrets.HIDDEN}
            ),
            "/config/brokers/1": _config(**{"follower.replication.throttled.rate": "1"}),
        }
    )
    page = Markup(client.get(URL))
    assert page.text("#settings summary") == "3 dynamic settings"
    rows = zip(page.texts("#settings tbody th"), page.texts("#settings td"), strict=False)
    assert [name for name, _ in rows] == [
        "leader.replication.throttled.rate",
        "log.cleaner.threads",
        "ssl.keystore.password",
    ]
    assert page.texts("#settings td") == [
        "7",
        "this broker",
        "hidden",
        "this broker",
        "hidden",
        "every broker",
    ]
    config = json.loads(client.get(URL, {"format": "json"}).content)["broker"]["config"]
    assert config[0] == {"name": "leader.replication.throttled.rate", "value": "7", "every_broker": False}
    assert config[2]["value"] is None
    assert "never read into zkdash" in config[2]["value_reason"]


def test_settings_that_may_not_be_read_are_not_said_to_be_none(client: Client) -> None:
    states.publish(states.healthy() | {"/config/brokers": Unreadable("no right to read it")})
    assert Markup(client.get(URL)).texts("#dynamic p.note") == [
        "/config/brokers is not readable: no right to read it"
    ]
    states.publish(states.healthy() | {"/config/brokers/3": states.znode("<hidden>")})
    (doubt,) = Markup(client.get(URL)).texts("#dynamic p.note")
    assert doubt.startswith("/config/brokers/3 is not to be understood: not a configuration")
    states.publish(states.healthy())
    assert Markup(client.get(URL)).text("#dynamic") == ""
