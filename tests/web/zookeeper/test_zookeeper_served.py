"""The ZooKeeper page of a served process, whose ZooKeeper dies."""

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


def _wait_for_status(site: Served, *wanted: str | None) -> None:
    wait_for(lambda: _status(site) == wanted, message=lambda: _status(site), every_s=0.25)


@pytest.mark.zk
def test_the_page_follows_a_server_that_dies(own_server: Callable[..., Server], served: Serve) -> None:
    zookeeper = own_server()
    site = served(ZKDASH_ZOOKEEPER=zookeeper.address)
    site.wait_until_loaded()
    _wait_for_status(site, "warning", "standalone", None)
    document = site.json(URL)
    assert document["rows"][0]["server"] == zookeeper.address
    assert [one["id"] for one in document["ailments"]] == ["standalone"]
    assert document["footprint"]["watches"] > 0
    up = f'zkdash_zookeeper_server_up{{cluster="default",server="{zookeeper.address}"}}'
    assert f"{up} 1.0" in site.get("/metrics").text

    zookeeper.kill()
    refused = f"{zookeeper.address} can't be reached (Connection refused)"
    _wait_for_status(site, "critical", None, refused)
    assert f"{up} 0.0" in site.get("/metrics").text
