"""One click from transaction logs to charts: the real worker, Spark and DuckDB, seen by a real browser."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import sites
from tests.journeys.sites import OPERATOR, Process
from tests.pipeline import clusters
from tests.serving import Serve
from zkdash.demo.zookeeper.server import Server

pytestmark = [pytest.mark.zk, pytest.mark.browser, pytest.mark.spark]

# Spark starts, loads and derives every table.
RUN_LIMIT_MS = 600_000
FEW_PARTS = {"spark.sql.adaptive.coalescePartitions.initialPartitionNum": "2"}


@pytest.fixture
def shop(
    own_server: Callable[..., Server], served: Serve, tmp_path: Path, django_db_blocker: Any
) -> Iterator[Process]:
    """A small cluster, alone in its ZooKeeper, whose transaction logs the process may read."""
    address = own_server(tmp_path / "zookeeper").address
    config = tmp_path / "zkdash.toml"
    config.write_text(
        f'[clusters.shop]\nzookeeper = "{address}"\ntransaction_logs = "{tmp_path / "zookeeper"}"\n'
    )
    with sites.connected(address) as client, contextlib.closing(sites.small(client, address)) as world:
        world.state("orders", 0, leader=2, isr=[2, 3], epoch=2)
        world.state("orders", 0, leader=1, isr=[1, 2, 3], epoch=3)
        server = served(
            ZKDASH_CONFIG=config,
            ZKDASH_DATA=tmp_path / "data",
            ZKDASH_RECORD="0",
            ZKDASH_PIPELINE_EVERY="0",  # only what is asked for
            ZKDASH_SPARK="local[1]",
            **clusters.quick(FEW_PARTS),
        )
        server.wait_until_loaded("shop")
        yield Process(server, tmp_path / "data", django_db_blocker.unblock)


def test_one_click_fills_the_charts_and_the_timelines(opened: Callable[..., Any], shop: Process) -> None:
    page, home = opened(shop, OPERATOR), f"{shop.served.address}/c/shop/"
    page.goto(home + "trends/")
    expect(page.locator("main")).to_contain_text("There are no charts of this cluster yet")
    page.get_by_role("link", name="Open the pipeline").click()
    expect(page.locator("#facts")).to_contain_text("no run has read the source yet")
    page.get_by_role("button", name="Run now").click()
    expect(page.locator("#runs-rows")).to_contain_text(OPERATOR)
    page.evaluate("window.opened = true")
    page.mouse.move(1, 1)
    expect(page.locator("#facts")).to_contain_text(re.compile(r"all is running: \d+ %"), timeout=RUN_LIMIT_MS)
    expect(page.locator("#runs-rows")).to_contain_text("done", timeout=RUN_LIMIT_MS)
    expect(page.locator("#facts")).to_contain_text(re.compile(r"(under|over) \d+ transactions"))
    assert page.evaluate("window.opened"), "the page heard of it without being loaded again"
    page.goto(home + "trends/")
    expect(page.locator("section:has(#leader-churn) .plot canvas")).to_be_visible()
    expect(page.locator("section:has(#leader-churn)")).to_contain_text("orders")
    expect(page.locator("#paths")).to_contain_text("/brokers/topics")
    page.goto(home + "topics/orders/")
    page.locator("#timeline + div").scroll_into_view_if_needed()
    expect(page.locator("#recorded-rows")).to_contain_text("orders")
