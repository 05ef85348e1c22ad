"""How every page looks and reads in a real browser: themes, narrow, zoomed, on paper, without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from tests import everywhere
from tests.serving import Served
from zkdash.web import pages

pytestmark = [pytest.mark.zk, pytest.mark.browser]

BROKEN, OLD, BAD = "1.1.1-broker3-killed", "0.7.2-consumers", "1.1.1-hand-reassign-invalid-json"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
SEARCH = f"/c/{BROKEN}/search/?q=o"
LIMIT_MS = 10_000
PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1366, "height": 768}
# What an operator's laptop shows of the page at a zoom of 200 %.
ZOOMED = {"width": 640, "height": 400}

EVERY_PAGE = (
    "/",
    *everywhere.addresses(BROKEN, most=1),
    *everywhere.addresses(OLD, most=1),
    f"/c/{BAD}/problems/",
    SEARCH,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two sick clusters and an old one."""
    with everywhere.serving(tmp_path_factory.mktemp("looks"), (BROKEN, OLD, BAD)) as server:
        yield server


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def opened(browser: Any, **options: Any) -> Any:
    return browser.new_context(**options).new_page()


def test_axe_finds_nothing_against_any_page_in_either_theme(browser: Any, site: Served, theme: str) -> None:
    page = opened(browser, color_scheme=theme)
    found = []
    for address in EVERY_PAGE:
        page.goto(site.address + address)
        # Evaluated by the debugger, so that the page's own policy against foreign scripts stands.
        page.evaluate(AXE)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert result["passes"], address
        found += [
            (address, one["id"], one["help"], [node["html"][:200] for node in one["nodes"][:3]])
            for one in result["violations"]
        ]
    page.context.close()
    assert found == []


def test_axe_finds_nothing_against_the_list_of_keys_and_the_list_of_clusters(page: Any, site: Served) -> None:
    page.goto(site.address + f"/c/{BROKEN}/topics/")
    page.evaluate(AXE)
    for selector in ("#help", "#switch summary"):
        page.locator(selector).click()
        assert page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"] == []
        page.keyboard.press("Escape")


@pytest.mark.parametrize("viewport", [PHONE, ZOOMED, LAPTOP], ids=["a phone", "zoomed to 200 %", "a laptop"])
def test_no_page_scrolls_sideways(browser: Any, site: Served, viewport: dict[str, int]) -> None:
    page = opened(browser, viewport=viewport)
    wide = []
    for address in EVERY_PAGE:
        page.goto(site.address + address)
        width = page.evaluate("document.scrollingElement.scrollWidth")
        if width > viewport["width"]:
            wide.append((address, width, page.evaluate(_WIDEST)))
    page.context.close()
    assert wide == []


# Which elements stick out, for whoever reads the failure.
_WIDEST = """[...document.querySelectorAll('body *')]
  .filter((el) => el.getBoundingClientRect().right > innerWidth && !el.closest('.sheet'))
  .map((el) => el.outerHTML.slice(0, 100)).slice(0, 5)"""


def test_every_target_is_large_enough_to_hit(page: Any, site: Served) -> None:
    """WCAG 2.5.8: 24 by 24 pixels, links inside sentences aside."""
    for address in EVERY_PAGE:
        page.goto(site.address + address)
        small = page.evaluate(
            """[...document.querySelectorAll('button, select, input:not([type=checkbox]), nav a, summary')]
            .filter((el) => el.checkVisibility() && !el.closest('.hush'))
            .filter((el) => { const r = el.getBoundingClientRect(); return r.width < 24 || r.height < 24; })
            .map((el) => el.outerHTML.slice(0, 120))"""
        )
        assert small == [], address


def test_reduced_motion_moves_nothing(browser: Any, site: Served) -> None:
    page = opened(browser, reduced_motion="reduce")
    page.goto(site.address + f"/c/{BROKEN}/topics/")
    row = page.locator("main tbody tr").first
    row.evaluate("(row) => row.classList.add('changed')")
    assert row.locator("td").first.evaluate("(cell) => getComputedStyle(cell).animationName") == "none"
    assert "inset" in row.locator(":scope > :first-child").evaluate(
        "(cell) => getComputedStyle(cell).boxShadow"
    )
    page.context.close()


def test_more_contrast_thickens_the_lines(browser: Any, site: Served) -> None:
    page = opened(browser, contrast="more")
    page.goto(site.address + f"/c/{BROKEN}/topics/")
    style = "(cell) => getComputedStyle(cell).borderBottomWidth"
    assert page.locator("main td").first.evaluate(style) == "2px"
    page.context.close()


def test_paper_holds_the_rows_and_no_controls(page: Any, site: Served) -> None:
    page.emulate_media(media="print")
    for address in EVERY_PAGE:
        page.goto(site.address + address)
        for gone in ("nav", ".tools", ".filter", ".copy", ".pager", "#waiting", "#switch"):
            assert page.locator(f"{gone}:visible").count() == 0, (address, gone)
        assert page.locator("h1").count() == 1
        if address != "/":
            expect(page.locator("footer span")).to_contain_text(site.address)
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_without_javascript_every_page_shows_its_rows(browser: Any, site: Served) -> None:
    page = opened(browser, java_script_enabled=False)
    for address in EVERY_PAGE:
        page.goto(site.address + address)
        assert page.locator("h1").count() == 1, address
        assert page.locator("table tbody tr").count(), address
        assert page.locator("noscript meta[http-equiv=refresh]").count() == 1
    page.context.close()


def test_without_javascript_filter_sort_search_and_links_work(browser: Any, site: Served) -> None:
    page = opened(browser, java_script_enabled=False)
    page.goto(site.address + f"/c/{BROKEN}/topics/")
    every = page.locator("main tbody tr").count()
    page.get_by_role("searchbox", name="Filter").fill("orders")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("main tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Clear filter").click()
    page.get_by_role("link", name="Partitions", exact=True).click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Partitions")
    assert page.locator("main tbody tr").count() == every
    page.get_by_role("link", name="orders", exact=True).click()
    expect(page.locator("h1")).to_have_text("orders")
    page.locator("#search").fill("clicks")
    page.locator("#search").press("Enter")
    expect(page.locator("h1")).to_have_text("clicks")
    page.locator("#switch summary").click()
    page.get_by_role("link", name=OLD).click()
    expect(page).to_have_url(site.address + f"/c/{OLD}/topics/")
    page.context.close()


def test_a_screen_reader_hears_headings_tables_and_one_announcement(page: Any, site: Served) -> None:
    for address in EVERY_PAGE:
        page.goto(site.address + address)
        assert page.locator("h1").count() == 1, address
        for table in page.get_by_role("table").all():
            assert table.get_attribute("aria-label"), address
        assert page.locator("thead th:not([scope=col])").count() == 0
        assert page.locator("[role=status]").count() == 1
        assert page.locator("[role=alert]").count() == 1


def test_there_is_a_page_of_every_kind_among_those_looked_at() -> None:
    kinds = {page.route.partition("<")[0] for page in pages.PAGES}
    seen = {address.partition("?")[0] for address in EVERY_PAGE}
    assert all(any(one.startswith(f"/c/{BROKEN}/{kind}") for one in seen) for kind in kinds)
