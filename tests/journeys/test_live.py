"""An open page follows ZooKeeper without a reload, and never from under the pointer. In a real browser."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.serving import Served
from tests.world import World

pytestmark = [pytest.mark.zk, pytest.mark.browser]

TOPICS = "/c/default/topics/"
ORDERS = "/c/default/topics/orders/"
WITHIN_A_SECOND_MS = 1000
LIMIT_MS = 10_000


def open_page(page: Any, site: Served, path: str) -> None:
    """Open a page, the pointer outside its tables, and wait until its socket stands."""
    page.goto(site.address + path)
    page.mouse.move(1, 1)
    expect(page.locator("#freshness")).to_contain_text("Live", timeout=LIMIT_MS)
    page.evaluate("window.opened = true")


def never_reloaded(page: Any) -> bool:
    return bool(page.evaluate("window.opened === true"))


def row(page: Any, *, partition: int) -> Any:
    return page.locator("main tbody tr").nth(partition)


def test_a_killed_broker_shows_on_open_pages_within_a_second(
    browser: Any, site: Served, world: World
) -> None:
    """From the moment ZooKeeper removed its ephemeral; nothing else was written yet."""
    context = browser.new_context()
    topics, topic = context.new_page(), context.new_page()
    open_page(topics, site, TOPICS)
    open_page(topic, site, ORDERS)
    world.kill_broker(3)
    gone = time.monotonic()
    expect(row(topic, partition=2)).to_have_attribute("data-tone", "critical", timeout=WITHIN_A_SECOND_MS)
    expect(topics.locator("tr", has_text="orders")).to_have_attribute(
        "data-tone", "critical", timeout=WITHIN_A_SECOND_MS
    )
    assert time.monotonic() - gone < 1.0
    world.state("orders", 2, leader=1, isr=[1, 2], epoch=1)
    expect(row(topic, partition=2)).to_have_attribute("data-tone", "warning", timeout=WITHIN_A_SECOND_MS)
    assert never_reloaded(topics)
    assert never_reloaded(topic)
    context.close()


def test_under_the_pointer_nothing_moves_until_it_is_asked_for(page: Any, site: Served, world: World) -> None:
    open_page(page, site, ORDERS)
    first = row(page, partition=0)
    first.hover()
    world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    expect(page.get_by_text("1 change · show (u)")).to_be_visible(timeout=LIMIT_MS)
    expect(first).to_have_attribute("data-tone", "ok")
    page.keyboard.press("u")
    expect(first).to_have_attribute("data-tone", "warning")
    expect(page.get_by_text("show (u)")).to_be_hidden()


def test_what_was_held_shows_when_the_pointer_leaves(page: Any, site: Served, world: World) -> None:
    open_page(page, site, ORDERS)
    row(page, partition=0).hover()
    world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    expect(page.get_by_text("1 change · show (u)")).to_be_visible(timeout=LIMIT_MS)
    page.mouse.move(1, 1)
    expect(row(page, partition=0)).to_have_attribute("data-tone", "warning")


def test_focus_in_the_table_survives_a_swap(page: Any, site: Served, world: World) -> None:
    open_page(page, site, TOPICS)
    page.locator("tr", has_text="orders").get_by_role("link").focus()
    world.topic("new-arrival", {0: [1]})
    expect(page.locator("tr", has_text="new-arrival")).to_be_visible(timeout=LIMIT_MS)
    world.state("orders", 0, leader=1, isr=[1], epoch=1)
    expect(page.locator("tr", has_text="orders")).to_have_attribute("data-tone", "warning", timeout=LIMIT_MS)
    assert page.evaluate("document.activeElement.textContent") == "orders"


def test_a_changed_row_is_marked_with_what_it_was(page: Any, site: Served, world: World) -> None:
    open_page(page, site, ORDERS)
    world.state("orders", 1, leader=3, isr=[2, 3, 1], epoch=7)
    changed = row(page, partition=1)
    expect(changed).to_have_class(re.compile("changed"), timeout=LIMIT_MS)
    expect(changed.locator("[title^='was 0']")).to_have_count(1)
    expect(page.get_by_role("status").first).to_contain_text("1 row changed")


def test_paused_means_paused(page: Any, site: Served, world: World) -> None:
    open_page(page, site, ORDERS)
    page.keyboard.press("p")
    expect(page.get_by_text("Paused by you.")).to_be_visible()
    world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    expect(page.get_by_text("1 change · show (u)")).to_be_visible(timeout=LIMIT_MS)
    page.keyboard.press("p")
    expect(row(page, partition=0)).to_have_attribute("data-tone", "warning")
    expect(page.get_by_text("Paused by you.")).to_be_hidden()


def test_without_its_socket_a_page_says_so_and_polls(page: Any, site: Served, world: World) -> None:
    page.route_web_socket("**/live/**", lambda socket: socket.close(code=1012))
    page.goto(site.address + ORDERS)
    page.mouse.move(1, 1)
    expect(page.get_by_text("This page lost its live connection; refreshing every 4 s.")).to_be_visible(
        timeout=LIMIT_MS
    )
    world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    expect(row(page, partition=0)).to_have_attribute("data-tone", "warning", timeout=LIMIT_MS)


def test_a_page_lives_on_when_zkdash_is_started_again(
    page: Any, served: Any, chroot: Any, world: World
) -> None:
    """Its revision means nothing to the new process, so it is sent everything."""
    first = served(ZKDASH_ZOOKEEPER=chroot.address)
    first.wait_until_loaded()
    port = first.address.rpartition(":")[2]
    open_page(page, first, ORDERS)
    first.stop()
    expect(page.get_by_text(re.compile("live connection|does not answer"))).to_be_visible(timeout=LIMIT_MS)
    world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    served(ZKDASH_ZOOKEEPER=chroot.address, port=port)
    expect(row(page, partition=0)).to_have_attribute("data-tone", "warning", timeout=3 * LIMIT_MS)
    expect(page.locator("#freshness")).to_contain_text("Live", timeout=3 * LIMIT_MS)
    assert never_reloaded(page)
