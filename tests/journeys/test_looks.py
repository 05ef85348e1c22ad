"""How every page looks and reads in a real browser: themes, narrow, zoomed, on paper, without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import expect

from tests import everywhere, full
from tests.journeys import looking
from tests.journeys.sites import BAD, BROKEN, OLD
from tests.serving import Served
from zkdash.web import pages

pytestmark = [pytest.mark.zk, pytest.mark.browser]

SEARCH = f"/c/{BROKEN}/search/?q=o"
# What an operator's laptop shows of the page at a zoom of 200 %.
ZOOMED = {"width": 640, "height": 400}
VIEWPORTS = {"a laptop": looking.LAPTOP, "zoomed to 200 %": ZOOMED, "a phone": looking.PHONE}

# Pages that show of an old cluster what they show of no other; a full run looks at all of its.
_OF_OLD = re.compile(rf"/c/{OLD}/((brokers|topics|groups)/([^/]+/)?|znodes/.+)?")

EVERY_PAGE = (
    "/",
    *everywhere.addresses(BROKEN, most=1),
    *(at for at in everywhere.addresses(OLD, most=1) if full.is_full() or _OF_OLD.fullmatch(at)),
    f"/c/{BAD}/problems/",
    SEARCH,
)


# What an operator's controls are, of which nothing is on paper.
CONTROLS = ("nav", ".tools", ".filter", ".copy", ".pager", "#waiting", "#switch")
# WCAG 2.5.8: 24 by 24 pixels, links inside sentences aside.
_SMALL = """[...document.querySelectorAll('button, select, input:not([type=checkbox]), nav a, summary')]
  .filter((el) => el.checkVisibility() && !el.closest('.hush'))
  .filter((el) => { const r = el.getBoundingClientRect(); return r.width < 24 || r.height < 24; })
  .map((el) => el.outerHTML.slice(0, 120))"""
# What a screen reader is told: how many of each there are.
_TOLD = """() => {
  const count = (css) => document.querySelectorAll(css).length;
  return { headings: count('h1'), statuses: count('[role=status]'), alerts: count('[role=alert]'),
    unscoped: count('thead th:not([scope=col])') };
}"""


class Looks(NamedTuple):
    """How one page looks and reads; what is empty is well."""

    violations: Mapping[str, list[Any]]
    small: list[str]
    told: Mapping[str, int]
    unnamed: int  # tables without a label
    wide: Mapping[str, Any]  # by viewport, what sticks out
    controls: list[str]  # that are on paper
    paper: tuple[str, str]  # the ink's colour, and the footer


@pytest.fixture(scope="module")
def looks(browser: Any, recorded: Served) -> dict[str, Looks]:
    """Each page, opened once and looked at in every way."""
    context = browser.new_context()
    page = context.new_page()
    looking.prepare(page)
    found = {}
    for address in EVERY_PAGE:
        page.goto(recorded.address + address)
        found[address] = _look(page)
    context.close()
    return found


def _look(page: Any) -> Looks:
    tables = page.get_by_role("table").all()
    return Looks(
        violations=looking.in_both_themes(page),
        small=page.evaluate(_SMALL),
        told=page.evaluate(_TOLD),
        unnamed=sum(not table.get_attribute("aria-label") for table in tables),
        wide=looking.sideways(page, VIEWPORTS),
        **_on_paper(page),
    )


def _on_paper(page: Any) -> dict[str, Any]:
    page.emulate_media(media="print")
    colour = page.evaluate("getComputedStyle(document.body).color")
    controls = [css for css in CONTROLS if page.locator(f"{css}:visible").count()]
    footer = page.locator("footer span")
    said = footer.text_content() if footer.count() else ""
    page.emulate_media(media="screen")
    return {"controls": controls, "paper": (colour, said)}


def opened(browser: Any, **options: Any) -> Any:
    return browser.new_context(**options).new_page()


def test_axe_finds_nothing_against_any_page_in_either_theme(looks: Mapping[str, Looks]) -> None:
    assert {address: look.violations for address, look in looks.items() if look.violations} == {}


def test_axe_finds_nothing_against_the_list_of_keys_and_the_list_of_clusters(
    page: Any, recorded: Served
) -> None:
    page.goto(recorded.address + f"/c/{BROKEN}/topics/")
    page.locator("#switch summary").click()
    assert looking.violations(page) == []
    page.locator("#person summary").click()
    assert looking.violations(page) == []
    page.locator("#help").click()
    assert looking.violations(page) == []


@pytest.mark.parametrize("viewport", VIEWPORTS)
def test_no_page_scrolls_sideways(looks: Mapping[str, Looks], viewport: str) -> None:
    assert {at: look.wide[viewport] for at, look in looks.items() if viewport in look.wide} == {}


def test_every_target_is_large_enough_to_hit(looks: Mapping[str, Looks]) -> None:
    assert {address: look.small for address, look in looks.items() if look.small} == {}


def test_reduced_motion_moves_nothing(browser: Any, recorded: Served) -> None:
    page = opened(browser, reduced_motion="reduce")
    page.goto(recorded.address + f"/c/{BROKEN}/topics/")
    row = page.locator("main tbody tr").first
    row.evaluate("(row) => row.classList.add('changed')")
    assert row.locator("td").first.evaluate("(cell) => getComputedStyle(cell).animationName") == "none"
    assert "inset" in row.locator(":scope > :first-child").evaluate(
        "(cell) => getComputedStyle(cell).boxShadow"
    )
    page.context.close()


def test_more_contrast_thickens_the_lines(browser: Any, recorded: Served) -> None:
    page = opened(browser, contrast="more")
    page.goto(recorded.address + f"/c/{BROKEN}/topics/")
    style = "(cell) => getComputedStyle(cell).borderBottomWidth"
    assert page.locator("main td").first.evaluate(style) == "2px"
    page.context.close()


def test_paper_holds_the_rows_and_no_controls(looks: Mapping[str, Looks], recorded: Served) -> None:
    assert {address: look.controls for address, look in looks.items() if look.controls} == {}
    assert {look.paper[0] for look in looks.values()} == {"rgb(0, 0, 0)"}
    unsaid = [at for at, look in looks.items() if at != "/" and recorded.address not in look.paper[1]]
    assert unsaid == []


def test_without_javascript_every_page_shows_its_rows(browser: Any, recorded: Served) -> None:
    page = opened(browser, java_script_enabled=False)
    for address in EVERY_PAGE:
        page.goto(recorded.address + address)
        assert page.locator("h1").count() == 1, address
        assert page.locator("table tbody tr, #blank, #znodes").count(), address
        assert page.locator("noscript meta[http-equiv=refresh]").count() == 1
    page.context.close()


def test_without_javascript_filter_sort_search_and_links_work(browser: Any, recorded: Served) -> None:
    page = opened(browser, java_script_enabled=False)
    page.goto(recorded.address + f"/c/{BROKEN}/topics/")
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
    expect(page).to_have_url(recorded.address + f"/c/{OLD}/topics/")
    page.context.close()


def test_a_screen_reader_hears_headings_tables_and_one_announcement(looks: Mapping[str, Looks]) -> None:
    wanted = {"headings": 1, "statuses": 1, "alerts": 1, "unscoped": 0}
    assert {address: look.told for address, look in looks.items() if look.told != wanted} == {}
    assert {address: look.unnamed for address, look in looks.items() if look.unnamed} == {}


def test_there_is_a_page_of_every_kind_among_those_looked_at() -> None:
    kinds = {page.route.partition("<")[0] for page in pages.PAGES}
    seen = {address.partition("?")[0] for address in EVERY_PAGE}
    assert all(any(one.startswith(f"/c/{BROKEN}/{kind}") for one in seen) for kind in kinds)
