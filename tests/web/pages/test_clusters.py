from __future__ import annotations

import json

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web import states
from tests.web.markup import Markup
from zkdash.zk.config import ClusterConfig
from zkdash.zk.session import Phase


def test_the_only_cluster_is_where_one_goes(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get("/")
    assert (response.status_code, response["Location"]) == (302, "/c/demo/")


def test_each_cluster_has_a_line_and_a_bad_one_harms_no_other(client: Client) -> None:
    states.publish(states.healthy(), name="good")
    states.publish(None, name="bad", phase=Phase.REFUSED, sentence="wrong chroot")
    page = Markup(client.get("/"))
    assert page.texts("#clusters-rows th") == ["good", "bad"]
    assert page.texts("#clusters-rows td.status") == ["✓ ok", "✕ refused"]
    rows = json.loads(client.get("/", {"format": "json"}).content)["rows"]
    assert (rows[0]["topics"], rows[1]["topics"]) == (3, None)
    assert rows[1]["topics_reason"] == "not loaded from ZooKeeper yet"


def test_a_process_without_watchers_says_so(client: Client, settings: Settings) -> None:
    settings.ZKDASH_CLUSTERS = (ClusterConfig(name="demo", servers=(("h", 2181),)),)
    page = Markup(client.get("/"))
    assert "No watcher runs in this process" in page.text("#banner")
    assert page.text("#clusters-rows") == "Configured, but not watched by this process: demo."
    response = client.get("/c/demo/topics/")
    assert response.status_code == 503
    assert "No watcher runs in this process" in Markup(response).text("p.problem")


def test_without_a_cluster_it_says_what_to_do(client: Client) -> None:
    assert "Set ZKDASH_ZOOKEEPER=" in Markup(client.get("/")).text("#clusters-rows")


@pytest.mark.parametrize("path", ["/nowhere/", "/c/", "/c/demo/nothing/", "/c/demo/topics/a/b/", "/c/~~/"])
def test_an_address_that_nothing_is_at_is_a_404_in_words(client: Client, path: str) -> None:
    states.publish(states.healthy())
    response = client.get(path)
    assert response.status_code == 404
    assert Markup(response).text("p.problem").startswith("Nothing is at this address.")
