from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.fixtures import hostile
from tests.web import states
from tests.web.markup import Markup
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.configs import access
from zkdash.znode import Unreadable

URL = "/c/demo/acls/"
REFUSED = Unreadable("no right to read it")


def entry(principal: str, operation: str, *, permission: str = "Allow", host: str = "*") -> dict[str, str]:
    return {"principal": principal, "permissionType": permission, "operation": operation, "host": host}


def acl(path: str, *entries: dict[str, str]) -> states.Tree:
    return {path: states.znode({"version": 1, "acls": list(entries)})}


def guarded() -> states.Tree:
    """A healthy cluster with rights of every kind."""
    return {
        **states.healthy(),
        **acl("/kafka-acl/Topic/orders", entry("User:alice", "Read"), entry("User:bob", "Write")),
        **acl("/kafka-acl/Topic/*", entry("User:root", "All")),
        **acl("/kafka-acl/Group/a/b", entry("User:alice", "Read", host="10.0.0.1")),
        **acl("/kafka-acl-extended/prefixed/Topic/or", entry("User:eve", "Describe", permission="Deny")),
        **acl("/kafka-acl/Cluster/kafka-cluster"),
        "/kafka-acl": states.znode(),
    }


def test_each_entry_is_a_row(client: Client) -> None:
    states.publish(guarded())
    rows = json.loads(client.get(URL, {"format": "json"}).content)["rows"]
    columns = ("resource_type", "resource", "pattern", "principal", "permission_type", "operation", "host")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("Group", "a/b", "literal", "User:alice", "Allow", "Read", "10.0.0.1"),
        ("Topic", "*", "literal", "User:root", "Allow", "All", "*"),
        ("Topic", "or", "prefixed", "User:eve", "Deny", "Describe", "*"),
        ("Topic", "orders", "literal", "User:alice", "Allow", "Read", "*"),
        ("Topic", "orders", "literal", "User:bob", "Allow", "Write", "*"),
    ]
    assert rows[2]["path"] == "/kafka-acl-extended/prefixed/Topic/or"
    assert {row["status"] for row in rows} == {"ok"}


def test_the_page_leads_to_the_topics_that_are_there(client: Client) -> None:
    states.publish(guarded())
    page = Markup(client.get(URL))
    assert {link.get("href") for link in page.all("#acls-rows th a")} == {"/c/demo/topics/orders/"}
    assert page.text("#showing") == "Showing 5 of 5 entries"


@pytest.mark.parametrize(
    ("query", "principals"),
    [
        ({"q": "user:ALICE"}, ["User:alice", "User:alice"]),
        ({"q": "deny"}, ["User:eve"]),
        ({"q": "prefixed"}, ["User:eve"]),
        ({"q": "orders write"}, ["User:bob"]),
        ({"sort": "-principal", "q": "topic"}, ["User:root", "User:eve", "User:bob", "User:alice"]),
        ({"status": "warning"}, []),
    ],
)
def test_filter_and_sort_live_in_the_address(
    client: Client, query: dict[str, str], principals: list[str]
) -> None:
    states.publish(guarded())
    rows = json.loads(client.get(URL, query | {"format": "json"}).content)["rows"]
    assert [row["principal"] for row in rows] == principals


def test_absent_unparsable_and_unreadable_are_three_things(client: Client) -> None:
    states.publish(
        states.brokers(1)
        | {
            "/kafka-acl/Topic/bad": states.znode("{nope"),
            "/kafka-acl/Topic/refused": REFUSED,
            "/delegation_token/tokens/bad": states.znode("<hidden>"),
            "/delegation_token/tokens/refused": REFUSED,
        }
    )
    page = Markup(client.get(URL))
    assert page.texts("#acls-rows span.severity") == ["▲ unparsable", "? not readable"]
    assert page.texts("#acls-rows td.missing")[:8] == ["?"] * 4 + ["not readable"] * 4
    assert page.texts("#tokens-rows td.missing") == ["?"] * 3 + ["not readable"] * 3
    hrefs = {
        link.get("href") for table in ("acls", "tokens") for link in page.all(f"#{table}-rows td.missing a")
    }
    assert hrefs == {
        "/c/demo/problems/?q=%2Fkafka-acl%2FTopic%2Fbad",
        "/c/demo/problems/?q=%2Fdelegation_token%2Ftokens%2Fbad",
    }


def test_a_token_says_until_when_it_holds_and_nobody_words_that_as_an_age(client: Client) -> None:
    times = {
        "issueTimestamp": states.TIME,
        "expiryTimestamp": states.TIME + 86_400_000,
        "maxTimestamp": states.TIME + 604_800_000,
    }
    states.publish(
        states.brokers(1)
        | {
            "/delegation_token/tokens/late": states.znode({"version": 3, **times}),
            "/delegation_token/tokens/early": states.znode(
                {"version": 1, **times, "expiryTimestamp": states.TIME}
            ),
        }
    )
    page = Markup(client.get(URL))
    assert page.texts("#tokens-rows th") == ["early", "late"]
    assert page.texts("#tokens-rows td.when")[3:] == [
        "2026-11-20 10:42:07",
        "2026-11-21 10:42:07 UTC",
        "2026-11-27 10:42:07 UTC",
    ]
    assert len(page.all("#tokens-rows time")) == 2
    tokens = json.loads(client.get(URL, {"format": "json"}).content)["tokens"]
    assert tokens[1] == {
        "id": "late",
        "issued": "2026-11-20T10:42:07.123Z",
        "expires": "2026-11-21T10:42:07.123Z",
        "renewable_until": "2026-11-27T10:42:07.123Z",
        "path": "/delegation_token/tokens/late",
    }


def test_what_may_not_be_read_is_not_said_to_be_empty(client: Client) -> None:
    states.publish(
        states.brokers(1)
        | {"/kafka-acl": REFUSED, "/delegation_token/tokens": REFUSED, "/config/users": REFUSED}
    )
    page = Markup(client.get(URL))
    assert page.texts("#unreadable code") == ["/delegation_token/tokens", "/kafka-acl"]
    assert page.text("#acls-rows") == "No ACL that may be read; what may not be read is unknown."
    assert page.text("#tokens-rows") == "No delegation token that may be listed."


def test_a_cluster_without_rights_says_so_and_before_the_first_load_nothing(client: Client) -> None:
    states.publish(states.brokers(1))
    page = Markup(client.get(URL))
    assert page.text("#acls-rows").startswith("No ACL is in ZooKeeper")
    assert page.text("#tokens-rows") == "No delegation token is in ZooKeeper."
    states.publish(None)
    page = Markup(client.get(URL))
    assert "not known before the first load" in page.text("#acls-rows")
    assert "not known before the first load" in page.text("#tokens-rows")


def test_no_secret_of_the_hostile_tree_is_shown_and_every_hostile_name_is(client: Client) -> None:
    states.publish(hostile.admitted())
    assert hostile.CANARY not in client.get(URL, {"size": "1000"}).content.decode()
    body = client.get(URL, {"format": "json", "size": "1000"}).content.decode()
    assert hostile.CANARY not in body
    assert {row["principal"] for row in json.loads(body)["rows"]} >= set(hostile.NAMES)


def test_it_is_looked_at_again_when_rights_change() -> None:
    key = PageKey("demo", "acls")
    assert access.PAGE.shows(key, ChangedAreas(frozenset({"acls"})))
    assert not access.PAGE.shows(key, ChangedAreas(frozenset({"configs", "topics"})))
