"""What if a broker stopped, how evenly a topic lies, and who owns the metadata: in a real browser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import looking
from tests.journeys.sites import Site

pytestmark = [pytest.mark.zk, pytest.mark.browser]

BROKER, KRAFT = "brokers/1/", "kraft/"


def test_from_a_broker_to_what_would_happen_if_it_and_others_stopped(page: Any, site: Site) -> None:
    page.goto(site.home + BROKER)
    page.get_by_role("link", name="What if it stopped?").click()
    banner = page.locator("#failure p.banner")
    expect(banner).to_contain_text("It can be stopped now")
    page.get_by_label("And brokers").fill("2")
    page.get_by_role("button", name="Compute").click()
    expect(page.locator("h1")).to_have_text("What if brokers 1, 2 stopped?")
    expect(banner).to_contain_text(
        "They cannot be stopped now without harm: 2 partitions would have no leader"
    )
    expect(page.locator("#losses-rows tr").first).to_contain_text("payments")
    page.get_by_role("link", name="Clear").click()
    expect(banner).to_contain_text("It can be stopped now")


def test_every_open_page_says_at_once_that_kraft_has_taken_over(page: Any, site: Site) -> None:
    page.goto(site.home + KRAFT)
    expect(page.locator("h1")).to_have_text("Migration to KRaft: not begun")
    expect(page.locator("#freshness")).to_contain_text("Live")
    site.world.kill_broker(1)  # who was the controller
    taken = {"version": 2, "brokerid": 3000, "timestamp": "1", "kraftControllerEpoch": 1}
    site.chroot.client.create("/controller", json.dumps(taken).encode())
    expect(page.locator("h1")).to_contain_text("KRaft has taken over")
    expect(page.locator("#banner")).to_contain_text("KRaft controller 3000 owns the metadata")
    expect(page.locator("#mode-1")).to_contain_text("in KRaft mode, or down")


def test_these_pages_are_free_of_what_axe_finds_and_fit_a_phone(page: Any, site: Site) -> None:
    found = {}
    for address in (f"{BROKER}what-if/", f"{BROKER}what-if/?brokers=2,3", KRAFT, "topics/orders/"):
        page.goto(site.home + address)
        for details in page.locator("main details summary").all():
            details.click()
        if faults := looking.faults(page):
            found[address] = faults
    assert found == {}
