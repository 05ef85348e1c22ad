"""The whole way through the demo, as somebody walks it who has just started it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.demo.test_simulation_command import Demo

pytestmark = pytest.mark.browser

LIMIT_MS = 30_000
MOVE_LIMIT_MS = 120_000  # the brokers of the demo copy as fast as real ones


def test_by_the_printed_link_a_broker_is_drained_and_the_drain_undone(demo: Demo, page: Any) -> None:
    [link] = re.findall(r"http://\S+/welcome/\S+", demo.printed)
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("header")).to_contain_text("demo")

    page.goto(link.partition("/welcome/")[0] + "/c/demo/brokers/4/")
    before = _replicas(page)
    assert before > 5
    page.get_by_role("link", name="Drain…").click()
    page.get_by_label("Topics").fill("orders\norder-events\ncarts\ncustomers")
    page.get_by_role("button", name="Propose").click()
    expect(page.locator(".review")).to_contain_text("/admin/reassign_partitions")
    expect(page.locator("#facts")).to_contain_text("A dry run so far")
    _submit_and_watch(page)
    drained = page.url

    page.get_by_role("button", name="Undo: propose the inverse").click()
    expect(page.locator("#facts")).to_contain_text("Follows from")
    assert page.url != drained
    _submit_and_watch(page)

    page.goto(link.partition("/welcome/")[0] + "/c/demo/brokers/4/")
    assert _replicas(page) == before


def _submit_and_watch(page: Any) -> None:
    """Submit the review, see partitions on their way and fewer of them, and stay until all are home."""
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#facts")).to_contain_text("verifying: waits until", timeout=LIMIT_MS)
    expect(page.locator("#moves-rows")).to_contain_text("not in sync yet", timeout=LIMIT_MS)
    expect(page.locator("#moves-rows")).to_contain_text("it is where it should be", timeout=MOVE_LIMIT_MS)
    expect(page.locator("#facts li.now")).to_have_text("done", timeout=MOVE_LIMIT_MS)


def _replicas(page: Any) -> int:
    """How many partitions of the four topics the broker's page counts."""
    text = "&".join(("q=orders", "size=1000"))
    answer = page.request.get(f"{page.url.partition('?')[0]}?format=json&{text}")
    assert answer.ok
    return int(answer.json()["total"])
