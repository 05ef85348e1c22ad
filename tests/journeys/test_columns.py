"""Columns that a reader leaves out stay out, in this browser, on screen alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import looking
from tests.journeys.sites import BROKEN, Site
from tests.serving import Served

pytestmark = [pytest.mark.zk, pytest.mark.browser]

TOPICS = f"/c/{BROKEN}/topics/"


def heading(page: Any, words: str) -> Any:
    return page.locator("main thead th", has_text=re.compile(f"^{words}"))


def choose(page: Any, words: str) -> None:
    page.locator("#columns summary").click()
    page.locator("#columns").get_by_label(words, exact=True).click()
    page.keyboard.press("Escape")
    expect(page.locator("#columns li").first).to_be_hidden()


def test_a_column_that_is_left_out_stays_out_in_every_list_of_its_kind(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    choose(page, "Config")
    expect(heading(page, "Config")).to_be_hidden()
    place = heading(page, "Config").evaluate("(heading) => heading.cellIndex")
    expect(page.locator("main tbody tr").first.locator("> *").nth(place)).to_be_hidden()
    expect(heading(page, "Replication")).to_be_visible()
    page.goto(recorded.address + TOPICS + "?q=orders&sort=-partitions")
    expect(heading(page, "Config")).to_be_hidden()
    page.locator("#filter").press_sequentially("x")
    expect(page.locator("main tbody tr.empty")).to_be_visible()
    expect(heading(page, "Config")).to_be_hidden()
    page.goto(recorded.address + f"/c/{BROKEN}/brokers/")
    assert page.locator("main thead th").count() == page.locator("main thead th:visible").count()
    page.emulate_media(media="print")
    page.goto(recorded.address + TOPICS)
    expect(heading(page, "Config")).to_be_visible()
    page.emulate_media(media="screen")
    choose(page, "Config")
    expect(heading(page, "Config")).to_be_visible()


def test_a_row_that_comes_has_the_columns_of_the_others(page: Any, site: Site) -> None:
    page.goto(site.home + "topics/")
    expect(page.locator("#freshness")).to_contain_text("Live")
    choose(page, "Groups")
    site.world.topic("new-topic", {0: [1, 2]})
    row = page.locator("main tbody tr", has_text="new-topic")
    place = heading(page, "Groups").evaluate("(heading) => heading.cellIndex")
    expect(row.locator("> *").nth(place)).to_be_hidden()


def test_what_names_a_row_cannot_be_left_out_and_without_a_script_nothing_is_offered(
    opened: Any, recorded: Served
) -> None:
    page = opened()
    page.goto(recorded.address + TOPICS)
    page.locator("#columns summary").click()
    offered = page.locator("#columns label").all_inner_texts()
    assert {"Name", "Status"}.isdisjoint(offered)
    assert "Partitions" in offered
    assert looking.violations(page) == []
    assert looking.sideways(page, {"a phone": looking.PHONE}) == {}
    plain = opened(java_script_enabled=False)
    plain.goto(recorded.address + TOPICS)
    expect(plain.locator("#columns")).to_be_hidden()


def test_what_is_left_out_is_so_before_any_module_has_come(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    choose(page, "Config")
    page.route(re.compile(r"/script/columns\b"), lambda route: route.abort())
    page.goto(recorded.address + TOPICS)
    expect(heading(page, "Config")).to_be_hidden()
    expect(heading(page, "Groups")).to_be_visible()
