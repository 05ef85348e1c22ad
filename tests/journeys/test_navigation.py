"""The side bar as a person meets it: wide, folded to icons, behind a button; with and without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import looking
from tests.journeys.sites import BROKEN, Site
from tests.serving import Served
from tests.waiting import wait_for

pytestmark = [pytest.mark.zk, pytest.mark.browser]

WIDTHS = {"wide": 1440, "folded": 1024, "phone": 360}
ENTRIES = "#nav li a"


@pytest.mark.parametrize("is_scripted", [True, False], ids=["script", "no script"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_every_entry_can_be_seen_and_gone_to(
    opened: Callable[..., Any], recorded: Served, width: int, is_scripted: bool
) -> None:
    page = opened(viewport={"width": width, "height": 800}, java_script_enabled=is_scripted)
    page.goto(recorded.address + f"/c/{BROKEN}/topics/")
    menu = page.locator("#menu summary")
    assert menu.is_visible() == (width < 720)
    if menu.is_visible():
        expect(page.locator(ENTRIES).first).to_be_hidden()
        menu.click()
    labels = page.locator(f"{ENTRIES} > span:not(.count)")
    assert labels.all_inner_texts() == [
        "Overview", "Brokers", "Topics", "Groups", "Checks", "Actions", "Problems", "Timeline", "Differences",
        "Bookmarks", "Trends", "Pipeline", "Ensemble", "Znodes", "How it works", "KRaft", "Configuration",
        "Access",
    ]  # fmt: skip
    for label in labels.all():
        expect(label).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    page.locator(ENTRIES, has_text="KRaft").click()
    expect(page).to_have_url(re.compile("/kraft/$"))
    page.locator("#person summary").click()
    page.locator("#person").get_by_role("link", name="Audit").click()
    expect(page).to_have_url(re.compile("/audit/$"))


def test_axe_finds_nothing_against_the_menu_of_a_phone(opened: Callable[..., Any], recorded: Served) -> None:
    page = opened(viewport=looking.PHONE)
    page.goto(recorded.address + f"/c/{BROKEN}/")
    page.locator("#menu summary").click()
    assert looking.in_both_themes(page, "aside") == {}


def test_a_filter_acts_as_one_types_and_its_page_stays_live(page: Any, site: Site) -> None:
    page.goto(site.home + "topics/?size=200")
    expect(page.locator("#freshness")).to_contain_text("Live")
    page.evaluate("window.isSame = true")
    page.locator("#filter").press_sequentially("pay")
    expect(page.locator("main tbody th")).to_have_text(["payments"])
    expect(page).to_have_url(site.home + "topics/?q=pay&size=200")
    expect(page.locator("#status")).to_have_text("Showing 1 of 1 that match, 2 topics in all")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("m")
    expect(page).to_have_url(site.home + "topics/?q=paym&size=200")
    expect(page.locator("#filter")).to_have_value("paym")
    site.world.topic("payment-methods", {0: [1, 2]})
    expect(page.locator("main tbody th")).to_have_text(["payment-methods", "payments"])
    site.world.topic("others", {0: [1, 2]})
    site.wait_until_shown("/brokers/topics/others")
    expect(page.locator("main tbody th")).to_have_count(2)
    page.locator(".chip", has_text="critical").click()
    expect(page).to_have_url(re.compile("status=critical"))
    assert page.evaluate("window.isSame"), "the page was loaded anew"


def test_a_filter_that_is_cleared_leaves_a_clean_address(page: Any, site: Site) -> None:
    page.goto(site.home + "topics/?q=pay")
    expect(page.locator("main tbody th")).to_have_text(["payments"])
    page.locator("#filter").fill("")
    expect(page).to_have_url(site.home + "topics/")
    wait_for(lambda: page.locator("main tbody th").count() == 2)
