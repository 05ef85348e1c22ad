"""The ZooKeeper page of a served process, whose ZooKeeper dies and comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.serving import Serve, Served, served
from tests.waiting import wait_for
from zkdash.demo.zookeeper import Server

__all__ = ["served"]

URL = "/c/default/zookeeper/"


def _status(site: Served) -> tuple[Any, Any, Any]:
    """Status and mode of the only server, and why there is no mode."""
    (row,) = site.json(URL)["rows"] or [{}]
    return row.get("status"), row.get("mode"), row.get("mode_reason")


@pytest.mark.zk
def test_the_page_follows_a_server_that_dies_and_comes_back(
    own_server: Callable[..., Server], served: Serve
) -> None:
    zookeeper = own_server()
    site = served(ZKDASH_ZOOKEEPER=zookeeper.address)
    site.wait_until_loaded()
    wait_for(lambda: _status(site) == ("warning", "standalone", None), 60, lambda: _status(site))
    document = site.json(URL)
    assert document["rows"][0]["server"] == zookeeper.address
    assert [one["id"] for one in document["ailments"]] == ["standalone"]
    assert document["footprint"]["watches"] > 0
    up = f'zkdash_zookeeper_server_up{{cluster="default",server="{zookeeper.address}"}}'
    assert f"{up} 1.0" in site.get("/metrics").text

    zookeeper.kill()
    refused = f"{zookeeper.address} can't be reached (Connection refused)"
    wait_for(lambda: _status(site) == ("critical", None, refused), 60, lambda: _status(site))
    assert f"{up} 0.0" in site.get("/metrics").text
    zookeeper.start()
    wait_for(lambda: _status(site)[1] == "standalone", 60, lambda: _status(site))
