"""The pages of brokers' disks in a browser: what they lead to, how they look, and without a script."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.history import disks
from tests.history.writing import MINUTE
from tests.journeys import looking
from tests.journeys.sites import Site, Sites

pytestmark = [pytest.mark.browser, pytest.mark.zk]

LOG, DISK = "topics/orders/log/", "brokers/1/disk/"


@pytest.fixture(scope="module")
def site(open_sites: Sites) -> Iterator[Site]:
    """A small cluster, of whose disks a run of an hour ago tells."""
    with open_sites.site() as made:
        disks.write(made.history, int(time.time() * 1000) - 60 * MINUTE)
        yield made


def test_a_disk_leads_to_the_logs_of_its_topics_without_a_script(
    opened: Callable[..., Any], site: Site
) -> None:
    page = opened(java_script_enabled=False)
    page.goto(site.home + DISK)
    page.locator("#disk-topics").get_by_role("link", name="orders").click()
    expect(page.locator("h1")).to_have_text("Log of orders-0")
    expect(page.locator("#log-lanes dt")).to_have_text(["Broker 1", "Broker 2"])
    expect(page.locator("#replica-logs")).to_contain_text("broker 2 holds an entry")
    page.get_by_role("textbox", name="Partition").fill("7")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("h1")).to_have_text("Log of orders-7")


def test_these_pages_are_free_of_what_axe_finds_and_fit_a_phone(
    opened: Callable[..., Any], site: Site
) -> None:
    page = opened()
    looking.prepare(page)
    faults = {}
    for address in (DISK, LOG, f"{LOG}?partition=7"):
        page.goto(site.home + address)
        if wrong := looking.faults(page):
            faults[address] = wrong
    assert faults == {}
