"""Cluster metadata, on its Overview."""

from __future__ import annotations

import json

from django.test import Client

from tests.web import states
from tests.web.markup import Markup
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.overview import overview
from zkdash.znode import Unreadable

URL = "/c/demo/"
REFUSED = Unreadable("no right to read it")


def _kept() -> states.Tree:
    return {
        "/cluster/id": states.znode({"version": "1", "id": "iAZYM0SaQ-elhe1rT4ifIg"}),
        "/feature": states.znode(
            {"version": 2, "status": 1, "features": {"metadata.version": {"max_version_level": 14}}}
        ),
        "/latest_producer_id_block": states.znode(
            {"version": 1, "broker": 3, "block_start": "4000", "block_end": "4999"}
        ),
        "/brokers/seqid": states.znode(),
        "/config/changes/config_change_0000000001": states.znode(
            {"version": 2, "entity_path": "topics/orders"}
        ),
        "/log_dir_event_notification/log_dir_event_0000000001": REFUSED,
    }


def _facts(client: Client) -> dict[str, str]:
    page = Markup(client.get(URL))
    return dict(zip(page.texts("#itself dt"), page.texts("#itself dd"), strict=True))


def _json(client: Client) -> dict[str, object]:
    kept: dict[str, object] = json.loads(client.get(URL, {"format": "json"}).content)["kept"]
    return kept


def test_the_overview_says_what_the_cluster_keeps_of_itself(client: Client) -> None:
    states.publish(states.healthy() | _kept())
    assert _facts(client) == {
        "Cluster id": "iAZYM0SaQ-elhe1rT4ifIg",
        "Features": "enabled: metadata.version 14",
        "Producer ids": "4000 to 4999, given to broker 3 last",
        "Broker ids": "3 generated",
        "Notifications": "2 in ZooKeeper, the oldest 2026-11-20 10:42:07",
    }
    (link,) = Markup(client.get(URL)).all("#itself a")
    assert link.get("href") == "/c/demo/configs/#notifications"
    assert _json(client) == {
        "cluster_id": "iAZYM0SaQ-elhe1rT4ifIg",
        "features": {"metadata.version": 14},
        "features_status": 1,
        "producer_ids": {"broker": 3, "block_start": 4000, "block_end": 4999},
        "generated_broker_ids": 3,
        "notifications": 2,
        "oldest_notification": "2026-11-20T10:42:07.123Z",
    }


def test_a_cluster_that_keeps_nothing_of_itself_has_no_such_lines(client: Client) -> None:
    states.publish(states.healthy())
    assert _facts(client) == {}
    kept = _json(client)
    assert (kept["cluster_id"], kept["cluster_id_reason"]) == (None, "there is no such znode")
    assert (kept["generated_broker_ids"], kept["notifications"]) == (None, 0)


def test_absent_unparsable_and_unreadable_are_three_things(client: Client) -> None:
    states.publish(
        states.healthy()
        | {"/cluster/id": states.znode("{nope"), "/feature": REFUSED, "/brokers/seqid": REFUSED}
        | {"/latest_producer_id_block": states.znode()}
    )
    assert _facts(client) == {
        "Cluster id": "?",
        "Features": "not readable",
        "Producer ids": "none given out yet",
        "Broker ids": "not readable",
    }
    kept = _json(client)
    assert kept["features_reason"] == "no right to read it"
    assert kept["producer_ids_reason"] == "none was given out yet"


def test_levels_of_version_1_have_a_lowest_and_an_unknown_status_its_number(client: Client) -> None:
    levels = {"f": {"min_version_level": 1, "max_version_level": 2}}
    for status, word in ((0, "disabled"), (1, "enabled"), (7, "status 7")):
        tree: states.Tree = {"/feature": states.znode({"version": 1, "status": status, "features": levels})}
        states.publish(states.healthy() | tree)
        assert _facts(client)["Features"] == f"{word}: f 1 to 2"
    assert _json(client)["features"] == {"f": [1, 2]}
    states.publish(states.healthy() | {"/feature": states.znode({"version": 2, "status": 1, "features": {}})})
    assert _facts(client)["Features"] == "enabled: none is finalized"


def test_the_overview_is_looked_at_again_when_notifications_come_and_go() -> None:
    assert overview.PAGE.shows(PageKey("demo", "overview"), ChangedAreas(frozenset({"notifications"})))
