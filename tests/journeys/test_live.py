"""An open page follows ZooKeeper without a reload, and never from under the pointer. In a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.journeys import pace
from tests.journeys.sites import Site
from tests.serving import Serve
from tests.waiting import wait_for
from tests.world import World
from tests.zk.proxy import Proxy

pytestmark = [pytest.mark.zk, pytest.mark.browser]

TOPICS, ORDERS = "topics/", "topics/orders/"


def open_page(page: Any, address: str) -> None:
    """Open a page, the pointer outside its tables, and wait until its socket stands."""
    page.goto(address)
    page.mouse.move(1, 1)
    expect(page.locator("#freshness")).to_contain_text("Live")
    page.evaluate("window.opened = true")


def never_reloaded(page: Any) -> bool:
    return bool(page.evaluate("window.opened === true"))


def row(page: Any, *, partition: int) -> Any:
    return page.locator("main tbody tr").nth(partition)


def test_a_killed_broker_shows_on_open_pages_within_a_second(opened: Callable[..., Any], site: Site) -> None:
    """From the moment ZooKeeper removed its ephemeral; nothing else was written yet."""
    topics = opened()
    topic = topics.context.new_page()
    open_page(topics, site.home + TOPICS)
    open_page(topic, site.home + ORDERS)
    critical = "document.querySelector('main tbody tr:%s').dataset.severity === 'critical'"
    pace.listen(topics, critical % "first-child")
    pace.listen(topic, critical % "last-child")
    site.world.kill_broker(3)
    gone = time.time()
    took = [pace.heard_s(page, gone) for page in (topics, topic)]
    assert max(took) < pace.allowed_s(1.0, topics)
    expect(topics.locator("tr", has_text="orders")).to_have_attribute("data-severity", "critical")
    expect(row(topic, partition=2)).to_have_attribute("data-severity", "critical")
    pace.listen(topic, "document.querySelector('main tbody tr:last-child').dataset.severity === 'warning'")
    site.world.state("orders", 2, leader=1, isr=[1, 2], epoch=1)
    written = time.time()
    assert pace.heard_s(topic, written) < pace.allowed_s(1.0, topics)
    assert never_reloaded(topics)
    assert never_reloaded(topic)


def test_under_the_pointer_nothing_moves_until_it_is_asked_for(page: Any, site: Site) -> None:
    open_page(page, site.home + ORDERS)
    first = row(page, partition=0)
    first.hover()
    site.world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    expect(page.get_by_text("1 change · show (u)")).to_be_visible()
    expect(first).to_have_attribute("data-severity", "ok")
    page.keyboard.press("u")
    expect(first).to_have_attribute("data-severity", "warning")
    expect(page.get_by_text("show (u)")).to_be_hidden()


def test_what_was_held_shows_when_the_pointer_leaves(page: Any, site: Site) -> None:
    open_page(page, site.home + ORDERS)
    row(page, partition=0).hover()
    site.world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    expect(page.get_by_text("1 change · show (u)")).to_be_visible()
    page.mouse.move(1, 1)
    expect(row(page, partition=0)).to_have_attribute("data-severity", "warning")


def test_focus_in_the_table_survives_a_swap(page: Any, site: Site) -> None:
    open_page(page, site.home + TOPICS)
    page.locator("tr", has_text="orders").get_by_role("link").focus()
    site.world.topic("new-arrival", {0: [1]})
    expect(page.locator("tr", has_text="new-arrival")).to_be_visible()
    site.world.state("orders", 0, leader=1, isr=[1], epoch=1)
    expect(page.locator("tr", has_text="orders")).to_have_attribute("data-severity", "warning")
    assert page.evaluate("document.activeElement.textContent") == "orders"


def test_a_changed_row_is_marked_with_what_it_was(page: Any, site: Site) -> None:
    open_page(page, site.home + ORDERS)
    site.world.state("orders", 1, leader=3, isr=[2, 3, 1], epoch=7)
    changed = row(page, partition=1)
    expect(changed).to_have_class(re.compile("changed"))
    expect(changed.locator("[title^='was 0']")).to_have_count(1)
    expect(page.get_by_role("status").first).to_contain_text("1 row changed")


def test_paused_means_paused(page: Any, site: Site) -> None:
    open_page(page, site.home + ORDERS)
    page.keyboard.press("p")
    expect(page.get_by_text("Paused by you.")).to_be_visible()
    site.world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    expect(page.get_by_text("1 change · show (u)")).to_be_visible()
    page.keyboard.press("p")
    expect(row(page, partition=0)).to_have_attribute("data-severity", "warning")
    expect(page.get_by_text("Paused by you.")).to_be_hidden()


def test_without_its_socket_a_page_says_so_and_polls(page: Any, site: Site) -> None:
    page.route_web_socket("**/live/**", lambda socket: socket.close(code=1012))
    page.clock.install()
    page.goto(site.home + ORDERS)
    page.mouse.move(1, 1)
    expect(page.get_by_text("This page lost its live connection; refreshing every 4 s.")).to_be_visible()
    site.world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    wait_for(lambda: site.served.json(site.path + ORDERS)["rows"][0]["leader"] == 2, limit_s=30)
    page.clock.run_for(4_000)
    expect(row(page, partition=0)).to_have_attribute("data-severity", "warning")


def test_a_page_lives_on_when_zkdash_is_started_again(
    page: Any, served: Serve, chroot: Chroot, world: World
) -> None:
    """Its revision means nothing to the new process, so it is sent everything."""
    page.add_init_script("Math.random = () => 0.2")  # by which a lost socket is tried again soon or late
    with Proxy(0) as proxy:  # whose port is the same before and after
        address = f"http://127.0.0.1:{proxy.port}"
        settings = {"ZKDASH_ZOOKEEPER": chroot.address, "ZKDASH_ORIGINS": address}
        first = served(**settings)
        proxy.target = int(first.address.rpartition(":")[2])
        first.wait_until_loaded()
        open_page(page, f"{address}/c/default/{ORDERS}")
        first.stop()
        expect(page.get_by_text(re.compile("live connection|does not answer"))).to_be_visible()
        world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
        second = served(**settings)
        proxy.target = int(second.address.rpartition(":")[2])
        expect(row(page, partition=0)).to_have_attribute("data-severity", "warning")
        expect(page.locator("#freshness")).to_contain_text("Live")
        assert never_reloaded(page)
