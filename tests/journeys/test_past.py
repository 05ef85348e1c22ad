"""From an incident to the cluster as it was, from change to change, and back to now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.journeys import looking
from tests.live.past import story
from tests.live.past.story import Dump
from tests.serving import Served
from tests.signing import become_first

pytestmark = [pytest.mark.zk, pytest.mark.browser]

CLUSTER: Final = "default"
# As many links as a page has before any that a test looks for.
MOST_TABS: Final = 80


@pytest.fixture(scope="module")
def told(
    shared_chroot: Chroot, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, list[Dump]]]:
    """A `serve` of a cluster whose story is recorded, and the story's moments."""
    with story.served(shared_chroot, tmp_path_factory.mktemp("past"), CLUSTER) as served:
        yield served


@pytest.fixture(scope="module")
def home(told: tuple[Served, list[Dump]]) -> tuple[str, int]:
    """The Overview's address, and a transaction of an incident."""
    server, dumps = told
    zxid = next(each.zxid for each in dumps if each.name == "elected anew")
    return f"{server.address}/c/{CLUSTER}/", zxid


@pytest.mark.parametrize("javascript", [True, False], ids=["with JavaScript", "without"])
def test_the_way_from_an_incident_into_the_past_and_back(
    home: tuple[str, int], opened: Callable[..., Any], *, javascript: bool
) -> None:
    address, zxid = home
    page = opened(java_script_enabled=javascript)
    page.goto(f"{address}?at=zxid:{zxid}")
    page.get_by_role("link", name="before", exact=True).first.click()
    was = moment(page)
    bar(page, "Next change").click()
    expect(page.locator("#time-bar strong")).to_be_visible()
    after = moment(page)
    assert after > was
    page.locator("#nav").get_by_role("link", name="Topics").click()
    expect(page).to_have_url(re.compile(r"/topics/\?at="))  # the links of the page stay in the past
    assert moment(page) == after
    bar(page, "Previous change").click()
    assert moment(page) < after
    bar(page, "Now").click()
    expect(page).to_have_url(f"{address}topics/")
    expect(page.locator("#time-bar")).to_have_count(0)


def test_the_bar_of_time_by_keys_alone(home: tuple[str, int], page: Any) -> None:
    address, zxid = home
    page.goto(f"{address}topics/?at=zxid:{zxid}")
    press(page, "Previous change")
    was = moment(page)
    assert was <= zxid
    press(page, "Previous change")
    assert moment(page) < was
    press(page, "Next change")
    assert moment(page) == was
    press(page, "Now")
    expect(page).to_have_url(f"{address}topics/")


def test_the_bar_of_time_by_arrow_keys_pointer_and_play(home: tuple[str, int], page: Any) -> None:
    address, zxid = home
    page.goto(f"{address}topics/?at=zxid:{zxid}")
    with page.expect_navigation():
        page.keyboard.press("ArrowLeft")
    before = moment(page)
    assert before <= zxid
    with page.expect_navigation():
        page.keyboard.press("ArrowRight")
    assert moment(page) > before
    # a pixel of the line is less than a minute: the moment is where the pointer is
    line = page.locator("#time-bar svg")
    at = float(line.locator(".at").get_attribute("d").split()[0].removeprefix("M")) / 1000
    box = line.bounding_box()
    page.mouse.move(box["x"] + box["width"] * at, box["y"] + 20)
    expect(page.locator("#time-at")).to_have_text(re.compile(r"^20\d\d-.* UTC$"))
    page.goto(f"{address}topics/?at=zxid:{before}")
    with page.expect_navigation():
        page.get_by_role("button", name="Play").click()
    assert moment(page) > before
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_moment_is_kept_with_a_note_found_again_and_removed(
    home: tuple[str, int], told: tuple[Served, list[Dump]], opened: Callable[..., Any]
) -> None:
    address, zxid = home
    page = opened(java_script_enabled=False)
    become_first(page, told[0])
    page.goto(f"{address}topics/?at=zxid:{zxid}")
    bar(page, "Keep").click()
    page.get_by_label("Note").fill("the <b>outage</b>")
    page.get_by_role("button", name="Keep it").click()
    kept = page.get_by_role("table", name="Bookmarks").get_by_role("link", name="the <b>outage</b>")
    kept.click()
    assert moment(page) == zxid
    page.go_back()
    page.get_by_role("button", name="Remove").click()
    expect(kept).to_have_count(0)
    expect(page.get_by_text("Nobody has kept a moment of this cluster.")).to_be_visible()


@pytest.mark.parametrize("javascript", [True, False], ids=["by keys alone", "without JavaScript, on a phone"])
def test_a_broker_that_failed_is_found_on_the_bar_stepped_through_compared_and_reported(
    home: tuple[str, int], opened: Callable[..., Any], tmp_path: Path, *, javascript: bool
) -> None:
    address, _ = home
    page = opened(java_script_enabled=javascript, **({} if javascript else {"viewport": looking.PHONE}))
    page.goto(f"{address}?at=latest")
    go = by_keys if javascript else click
    time_bar = page.locator("#time-bar")
    go(page, time_bar.locator("summary"))
    follow(go, page, time_bar.get_by_role("link", name=re.compile("1 broker gone")).first)
    expect(page.get_by_text("Broker 2 is gone").first).to_be_visible()
    # The step's end is after what came of it, too: what is meant is the broker's own incident.
    incident = page.get_by_role("listitem").filter(has_text="Broker 2 is gone")
    follow(go, page, incident.get_by_role("link", name="before", exact=True).first)
    expect(page.get_by_text("Broker 2 is gone")).to_have_count(0)
    before = moment(page)
    follow(go, page, bar(page, "Next change"))
    expect(page.get_by_text("Broker 2 is gone").first).to_be_visible()
    assert moment(page) > before
    follow(go, page, bar(page, "Previous change"))
    expect(page.get_by_text("Broker 2 is gone")).to_have_count(0)
    follow(go, page, bar(page, "What changed since"))
    differences = page.get_by_role("table").filter(has_text="broker 2")
    expect(differences.first).to_be_visible()
    note = page.get_by_label("Note")
    note.focus()
    page.keyboard.type("the outage")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    saved.value.save_as(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert "the outage" in report
    assert "broker 2" in report.lower()


def test_a_page_of_the_past_looks_well_everywhere(home: tuple[str, int], page: Any) -> None:
    address, zxid = home
    looking.prepare(page)
    for path in (
        "",
        "topics/orders/",
        "why/?topic=orders&partition=0",
        "differences/",
        "differences/znodes/",
    ):
        since = f"&from=zxid:{zxid - 1}" if path.startswith("differences") else ""
        page.goto(f"{address}{path}{'&' if '?' in path else '?'}at=zxid:{zxid}{since}")
        assert looking.faults(page) == {}
        assert "As of" in page.title()


def test_times_of_a_page_of_the_past_are_told_from_its_moment(home: tuple[str, int], page: Any) -> None:
    address, zxid = home
    page.goto(f"{address}topics/orders/?at=zxid:{zxid}")
    expect(page.locator("main time").first).to_have_text(re.compile(r"^\d+ s before$"))


def test_where_nothing_is_recorded_the_page_leads_to_what_is(home: tuple[str, int], page: Any) -> None:
    address, _ = home
    assert page.goto(f"{address}topics/?at=2020-01-01T00:00Z").status == 404
    page.get_by_role("link", name=re.compile("^As it was at")).click()
    expect(page.locator("#time-bar")).to_be_visible()
    page.goto(f"{address}topics/?at=2020-01-01T00:00Z")
    page.get_by_role("link", name="This page now").click()
    expect(page).to_have_url(f"{address}topics/")


def bar(page: Any, label: str) -> Any:
    return page.locator("#time-bar").get_by_role("link", name=label, exact=True)


def moment(page: Any) -> int:
    """The transaction after which the page is."""
    found = re.search(r"after transaction 0x([0-9a-f]+)", page.locator("#time-bar").inner_text())
    assert found, page.url
    return int(found[1], 16)


def press(page: Any, label: str) -> None:
    """Go to a link of the bar by Tab, and follow it."""
    follow(by_keys, page, bar(page, label))


def follow(go: Callable[[Any, Any], None], page: Any, link: Any) -> None:
    """Go to a link, and wait for the page that it leads to: the one before may tell the same."""
    with page.expect_navigation():
        go(page, link)


def click(_page: Any, to: Any) -> None:
    to.click()


def by_keys(page: Any, to: Any) -> None:
    """Go by Tab to what a locator finds, and press Enter there."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if to.evaluate("it => it === document.activeElement"):
            break
    expect(to).to_be_focused()
    page.keyboard.press("Enter")
