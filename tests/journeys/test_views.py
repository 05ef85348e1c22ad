"""A view is its address: filtered, sorted, paged, reloaded, gone back to."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys.sites import Site

pytestmark = [pytest.mark.zk, pytest.mark.browser]

PARTITIONS = 130
LAST = f"/brokers/topics/wide/partitions/{PARTITIONS - 1}/state"


def rows(page: Any) -> list[str]:
    names: list[str] = page.locator("main tbody th").all_inner_texts()
    return names


def test_filter_sort_page_and_reload_show_the_same_view(page: Any, site: Site) -> None:
    site.world.topic("wide", {number: [number % 3 + 1, (number + 1) % 3 + 1] for number in range(PARTITIONS)})
    site.wait_until_shown(LAST)
    page.goto(site.home + "topics/wide/")
    expect(page.locator("#showing")).to_have_text(f"Showing 50 of {PARTITIONS} partitions")
    page.locator("#filter").fill("broker:1")
    page.locator("#filter").press("Enter")
    expect(page).to_have_url(re.compile("q=broker%3A1"))
    matching = [number for number in range(PARTITIONS) if 1 in (number % 3 + 1, (number + 1) % 3 + 1)]
    page.get_by_role("link", name="Partition", exact=True).click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Partition")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("#pager")).to_contain_text("page 2 of 2")
    shown = rows(page)
    assert shown == [str(number) for number in sorted(matching, reverse=True)[50:]]
    page.reload()
    assert rows(page) == shown
    expect(page.locator("#filter")).to_have_value("broker:1")
    page.go_back()
    expect(page.locator("#pager")).to_contain_text("page 1 of 2")
    page.go_forward()
    expect(page.locator("#pager")).to_contain_text("page 2 of 2")
    assert rows(page) == shown


def test_a_page_size_is_kept_in_the_address(page: Any, site: Site) -> None:
    site.world.topic("wide", {number: [1] for number in range(PARTITIONS)})
    site.wait_until_shown(LAST)
    page.goto(site.home + "topics/wide/")
    page.get_by_label("Rows").select_option("200")
    expect(page).to_have_url(re.compile("size=200"))
    expect(page.locator("#partitions-rows tr")).to_have_count(PARTITIONS)
