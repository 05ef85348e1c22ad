from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.fixtures import hostile
from tests.web import states
from tests.web.markup import Markup
from zkdash.kafka import secrets
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.configs import configs
from zkdash.znode import Unreadable

URL = "/c/demo/configs/"
REFUSED = Unreadable("no right to read it")


def _config(entity: str, config: dict[str, str]) -> states.Tree:
    return {f"/config/{entity}": states.znode({"version": 1, "config": config})}


def tuned() -> states.Tree:
    """A healthy cluster with settings of every kind of entity."""
    return {
        **states.healthy(),
        **_config("clients/app%201", {"producer_byte_rate": "1048576"}),
        **_config("users/alice%40EX", {"SCRAM-SHA-512": secrets.HIDDEN, "request_percentage": "50"}),
        **_config("users/alice%40EX/clients/<default>", {"consumer_byte_rate": "7"}),
        **_config("brokers/2", {"leader.replication.throttled.rate": "9"}),
        **_config("brokers/<default>", {"log.cleaner.threads": secrets.HIDDEN}),
        **_config("ips/10.0.0.1", {"connection_creation_rate": "20"}),
        **_config("users/nobody", {}),
        **_config("topics/ghost", {"retention.ms": "1"}),
    }


def test_every_entity_with_settings_has_its_row_with_a_name_for_people(client: Client) -> None:
    states.publish(tuned())
    rows = json.loads(client.get(URL, {"format": "json"}).content)["rows"]
    assert [(row["status"], row["type"], row["entity"], row["settings"]) for row in rows] == [
        ("info", "topic", "ghost", ["retention.ms=1"]),
        ("ok", "address", "10.0.0.1", ["connection_creation_rate=20"]),
        ("ok", "broker", "2", ["leader.replication.throttled.rate=9"]),
        ("ok", "broker", "every broker", ["log.cleaner.threads hidden"]),
        ("ok", "client", "app 1", ["producer_byte_rate=1048576"]),
        ("ok", "client of a user", "alice@EX, every other client", ["consumer_byte_rate=7"]),
        ("ok", "topic", "orders", ["retention.ms=1000"]),
        ("ok", "user", "alice@EX", ["SCRAM-SHA-512 hidden", "request_percentage=50"]),
    ]
    assert rows[4]["path"] == "/config/clients/app%201"
    assert rows[4]["changed"] == "2026-11-20T10:42:07.123Z"


def test_the_page_leads_from_topics_and_brokers_to_theirs_and_says_what_is_hidden(client: Client) -> None:
    states.publish(tuned())
    page = Markup(client.get(URL))
    assert [link.get("href") for link in page.all("#configs-rows th a")] == [
        "/c/demo/brokers/2/",
        "/c/demo/topics/orders/",
    ]
    assert page.texts("#configs-rows td.raw")[3] == "log.cleaner.threads hidden"
    (why,) = {span.get("title") for span in page.all("#configs-rows td.raw span")}
    assert why is not None
    assert "never read into zkdash" in why
    assert page.texts("#configs-rows span.severity")[0] == "● no such topic"
    assert page.text("#showing") == "Showing 8 of 8 entities"


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ({"q": "alice@EX"}, ["alice@EX, every other client", "alice@EX"]),
        ({"q": "byte_rate=7"}, ["alice@EX, every other client"]),
        ({"q": "retention.ms"}, ["ghost", "orders"]),
        ({"q": "broker:2"}, ["2"]),
        ({"status": "info"}, ["ghost"]),
        ({"q": "topic", "sort": "-entity"}, ["orders", "ghost"]),
        ({"q": "alice", "sort": "-settings"}, ["alice@EX", "alice@EX, every other client"]),
        ({"q": "nothing-like-it"}, []),
    ],
)
def test_filter_and_sort_live_in_the_address(
    client: Client, query: dict[str, str], entities: list[str]
) -> None:
    states.publish(tuned())
    rows = json.loads(client.get(URL, query | {"format": "json"}).content)["rows"]
    assert [row["entity"] for row in rows] == entities


def test_absent_unparsable_and_unreadable_are_three_things(client: Client) -> None:
    tree = states.brokers(1) | {
        "/config/clients/bad": states.znode("{nope"),
        "/config/clients/refused": REFUSED,
    }
    states.publish(tree)
    page = Markup(client.get(URL))
    assert page.texts("#configs-rows span.severity") == ["▲ unparsable", "? not readable"]
    assert page.texts("#configs-rows td.missing") == ["?", "not readable", "—"]
    (link,) = {link.get("href") for link in page.all("#configs-rows td.missing a")}
    assert link == "/c/demo/problems/?q=%2Fconfig%2Fclients%2Fbad"
    rows = json.loads(client.get(URL, {"format": "json"}).content)["rows"]
    assert rows[1]["settings_reason"] == "no right to read it"


def test_a_directory_that_may_not_be_read_is_not_an_empty_one(client: Client) -> None:
    states.publish(states.brokers(1) | {"/config/users": REFUSED})
    page = Markup(client.get(URL))
    assert page.texts("#unreadable li") == ["not readable /config/users no right to read it"]
    assert "what may not be read is unknown" in page.text("#configs-rows")
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert document["unreadable"] == [{"path": "/config/users", "reason": "no right to read it"}]


def test_a_cluster_without_settings_says_so(client: Client) -> None:
    states.publish(states.brokers(1))
    page = Markup(client.get(URL))
    assert page.text("#configs-rows").startswith("Nothing has settings of its own")
    assert page.text("#notifications-rows") == "No notification lies in ZooKeeper."
    assert page.texts("#unreadable li") == []


def test_before_the_first_load_nothing_is_said_to_be_empty(client: Client) -> None:
    states.publish(None)
    page = Markup(client.get(URL))
    assert "not known before the first load" in page.text("#configs-rows")
    assert "not known before the first load" in page.text("#notifications-rows")


def test_notifications_say_what_changed_of_what_oldest_first(client: Client) -> None:
    states.publish(
        states.brokers(1)
        | {
            "/config/changes/config_change_0000000001": states.znode(
                {"version": 2, "entity_path": "users/alice%40EX"}
            ),
            "/kafka-acl-changes/acl_changes_0000000000": states.znode("Topic:orders"),
            "/isr_change_notification/isr_change_0000000003": states.znode(
                {"version": 1, "partitions": [{"topic": "t", "partition": n} for n in range(7)]}
            ),
            "/log_dir_event_notification/log_dir_event_0000000000": states.znode(
                {"version": 1, "broker": 2, "event": 1}
            ),
            "/delegation_token/token_changes/token_change_0000000000": states.znode(),
            "/config/changes/config_change_0000000002": REFUSED,
        }
    )
    rows = json.loads(client.get(URL, {"format": "json"}).content)["notifications"]
    assert [(row["what"], row["about"]) for row in rows] == [
        ("configuration", "user alice@EX"),
        ("delegation token", None),
        ("ISR", "t 0, t 1, t 2, t 3, t 4 and 2 more"),
        ("ACL", "Topic orders (literal)"),
        ("log directory", "failed on broker 2"),
        ("configuration", None),
    ]
    assert rows[1]["about_reason"] == "what it holds is never read into zkdash"
    assert rows[5]["about_reason"] == "no right to read it"
    assert rows[5]["since"] is None
    page = Markup(client.get(URL))
    assert len(page.all("#notifications-rows time")) == 5


def test_no_secret_of_the_hostile_tree_and_every_hostile_name_is_shown(client: Client) -> None:
    states.publish(hostile.admitted())
    body = client.get(URL, {"size": "1000"}).content.decode()
    assert hostile.CANARY not in body
    rows = json.loads(client.get(URL, {"format": "json", "size": "1000"}).content)["rows"]
    assert {row["entity"] for row in rows if row["type"] == "topic"} >= set(hostile.NAMES)


def test_it_is_looked_at_again_when_settings_notifications_or_topics_change() -> None:
    key = PageKey("demo", "configs")
    for area in ("configs", "notifications", "topics"):
        assert configs.PAGE.shows(key, ChangedAreas(frozenset({area})))
    assert not configs.PAGE.shows(key, ChangedAreas(frozenset({"groups", "brokers", "samples"})))
