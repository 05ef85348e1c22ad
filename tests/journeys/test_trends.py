"""Trends in a real browser: charts, their numbers without a script, a timeline that waits to be looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.history import hour
from tests.history.writing import MINUTE
from tests.journeys import looking
from tests.journeys.sites import VIEWER, Site, Sites

pytestmark = [pytest.mark.zk, pytest.mark.browser]

TRENDS = "trends/"
# How far to the right the middle of what was not read is, which moves on with the time.
_GAP = """(rows) => {
  const known = rows.map((row) => !!row.cells[1].dataset.value);
  const from = known.findIndex((it, i) => !it && known[i - 1]);
  return (from + known.findIndex((it, i) => i > from && it) - 1) / 2 / (rows.length - 1);
}"""
CHARTS = ["under-replicated", "leader-churn", "rebalances", "commit-rates", "lag", "writes", "disk"]


@pytest.fixture(scope="module")
def site(closed_sites: Sites) -> Iterator[Site]:
    """A small cluster that has an hour of history."""
    with closed_sites.site() as found:
        now = int(time.time() * 1000)
        hour.write(found.history, now - now % MINUTE - 59 * MINUTE)
        yield found


@pytest.fixture
def page(opened: Callable[..., Any], site: Site) -> Any:
    return opened(site, VIEWER)


@pytest.fixture
def complaints(page: Any) -> list[str]:
    """What the browser complains of: an error of a script, or what the page's policy forbids."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


def test_every_chart_is_drawn_within_the_policy_and_names_its_lines(
    page: Any, site: Site, complaints: list[str]
) -> None:
    page.goto(site.home + TRENDS)
    expect(page.locator(".plot canvas")).to_have_count(len(CHARTS))
    for name in CHARTS:
        section = page.locator(f"section:has(#{name})")
        drawn = section.locator(".u-legend .u-label").all_text_contents()[1:]
        assert drawn == section.locator("details th.num").all_text_contents()
        assert section.locator(".key").count() == len(drawn)
        assert section.locator(".plot").get_attribute("aria-label")
    assert complaints == []


def test_a_pointer_over_a_chart_reads_its_numbers_and_a_drag_looks_closer(page: Any, site: Site) -> None:
    page.goto(site.home + TRENDS)
    section = page.locator("section:has(#commit-rates)")
    over = section.locator(".u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    values = section.locator(".u-legend .u-value")
    at = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 2, at)
    expect(values.first).to_contain_text(":")
    whole = values.first.text_content()
    assert float(values.nth(1).text_content().replace(",", ".")) > 0
    page.mouse.move(box["x"] + box["width"] * section.locator("details tbody tr").evaluate_all(_GAP), at)
    expect(values.nth(1)).to_have_text("unknown")
    page.mouse.move(box["x"] + box["width"] * 0.7, at)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, at, steps=4)
    page.mouse.up()
    page.mouse.move(box["x"] + 2, at)
    expect(values.first).not_to_have_text(whole)
    page.mouse.dblclick(box["x"] + 2, at)
    expect(values.first).to_have_text(whole)


@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_and_nothing_sticks_out(opened: Callable[..., Any], site: Site, width: int) -> None:
    page, found = opened(site, VIEWER, viewport={"width": width, "height": 740}), {}
    for address in (TRENDS, "pipeline/", "timeline/?topic=orders"):
        page.goto(site.home + address)
        if address == TRENDS:
            page.locator("main details summary").first.click()
        faults = looking.in_both_themes(page) if width > 360 else looking.violations(page)
        if faults or page.evaluate("document.scrollingElement.scrollWidth") > width:
            found[address] = faults
    assert found == {}


def test_colours_follow_the_theme(opened: Callable[..., Any], site: Site) -> None:
    page = opened(site, VIEWER, color_scheme="light")
    page.goto(site.home + TRENDS)
    picture = "document.querySelector('.plot canvas').toDataURL()"
    light = page.evaluate(picture)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"(before) => {picture} !== before", arg=light)


def test_without_a_script_the_picture_and_all_numbers_can_be_read(
    opened: Callable[..., Any], site: Site
) -> None:
    page = opened(site, VIEWER, java_script_enabled=False)
    page.goto(site.home + TRENDS)
    section = page.locator("section:has(#under-replicated)")
    picture = section.locator(".plot svg")
    expect(picture).to_be_visible()
    assert "from 0 to 5" in picture.get_attribute("aria-label")
    section.locator("summary").click()
    expect(section.locator("details tbody tr")).to_have_count(60)
    expect(section.locator("td", has_text="unknown").first).to_be_visible()
    page.get_by_role("link", name="last 6h").click()
    expect(page.locator(".tally")).to_contain_text("5 minutes")
    page.get_by_role("link", name="pipeline", exact=True).click()
    expect(page.locator("h1")).to_contain_text("Pipeline of")


def test_a_time_can_be_typed(page: Any, site: Site) -> None:
    page.goto(site.home + TRENDS)
    page.locator("#filter").fill("2026-01-01T10:00Z")
    page.get_by_label("to", exact=True).fill("2026-01-03T10:00Z")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".tally")).to_contain_text("in steps of an hour")
    page.get_by_role("link", name="all that is recorded").click()
    expect(page.locator(".plot canvas")).to_have_count(len(CHARTS))


def test_keys_lead_to_the_trends(page: Any, site: Site) -> None:
    page.goto(site.home)
    page.keyboard.type("gr")
    expect(page.locator("h1")).to_contain_text("Trends of")


def test_a_topic_shows_its_timeline_when_it_is_looked_at(
    page: Any, site: Site, complaints: list[str]
) -> None:
    page.goto(site.home + "topics/orders/")
    title = page.title()
    assert title.startswith("orders · ")
    page.locator("#timeline + div").scroll_into_view_if_needed()
    expect(page.locator("#recorded tbody tr")).to_have_count(20)  # of memory and of the tables
    assert page.title() == title  # what is fetched into a page does not name the tab
    expect(page.locator("#recorded-rows")).to_contain_text("lost replica 3 from ISR")
    page.get_by_role("link", name="Older").click()
    expect(page.locator("h1")).to_have_text("Timeline of topic orders")
    expect(page.locator("#recorded-rows tr")).to_have_count(35)
    assert complaints == []


def test_without_a_script_a_topic_leads_to_its_timeline(opened: Callable[..., Any], site: Site) -> None:
    page = opened(site, VIEWER, java_script_enabled=False)
    page.goto(site.home + "topics/orders/")
    page.get_by_role("link", name="Changes to this topic, newest first").click()
    expect(page.locator("#recorded tbody tr")).to_have_count(50)
