"""From the list of clusters to what is wrong, and back to the same view; by hand and by the keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys.sites import BROKEN, WELL
from tests.serving import Served

pytestmark = [pytest.mark.zk, pytest.mark.browser]

TOPICS = f"/c/{BROKEN}/topics/"


def settle(page: Any) -> None:
    """Wait until the page's script and socket are there, the pointer outside its tables."""
    page.mouse.move(1, 1)
    expect(page.locator("#freshness")).to_contain_text("Live")


def rows(page: Any) -> list[str]:
    names: list[str] = page.locator("main tbody th").all_inner_texts()
    return names


def test_an_under_replicated_partition_is_three_clicks_from_the_clusters(page: Any, recorded: Served) -> None:
    page.goto(recorded.address)
    line = page.locator("tr", has_text=BROKEN)
    expect(line.locator(".verdict a").first).to_contain_text("partition")
    line.get_by_role("link", name=BROKEN).click()
    page.get_by_role("link", name=re.compile("^The .* partitions?$")).first.click()
    expect(page).to_have_url(re.compile("/brokers/3/"))
    page.locator("main tbody").get_by_role("link", name="orders").first.click()
    expect(page.locator("main tbody tr[data-severity=warning]").first).to_contain_text("3 out")


def test_ticked_statuses_stay_ticked(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    page.get_by_label(re.compile("critical")).check()
    expect(page).to_have_url(re.compile("status=critical"))
    expect(page.get_by_label(re.compile("critical"))).to_be_checked()
    expect(page.locator("main tbody tr:not([data-severity=critical])")).to_have_count(0)
    expect(page.locator("main tbody tr[data-severity=critical]").first).to_be_visible()


def test_the_tab_says_the_worst(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + f"/c/{BROKEN}/")
    settle(page)
    expect(page).to_have_title(re.compile(r"^✕ \d+ · Overview"))
    page.goto(recorded.address + f"/c/{WELL}/")
    expect(page).to_have_title(re.compile(r"^(▲ \d+ · )?Overview"))  # nothing critical


def test_rows_are_walked_and_opened_by_keys(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    settle(page)
    names = rows(page)
    for key in ("j", "j", "j", "k"):
        page.keyboard.press(key)
    expect(page.locator("main tbody tr:focus th")).to_have_text(names[1])
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(names[1])


def test_f_goes_to_the_filter_and_escape_leaves_it(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    settle(page)
    page.keyboard.press("f")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("jk?")
    expect(page.locator("#filter")).to_have_value("jk?")
    page.keyboard.press("Escape")
    expect(page.locator("#filter")).not_to_be_focused()


def test_the_slash_goes_to_the_search(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    settle(page)
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("orders")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("orders")


def test_g_and_a_letter_go_to_a_page(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + f"/c/{BROKEN}/")
    settle(page)
    entries = page.locator("nav [data-go]")
    places = dict(
        zip(
            entries.evaluate_all("(links) => links.map((link) => link.dataset.go)"),
            entries.evaluate_all("(links) => links.map((link) => link.href)"),
            strict=True,
        )
    )
    assert set(places) >= {"o", "t"}
    for letter, address in places.items():
        page.keyboard.type(f"g{letter}")
        expect(page).to_have_url(address)
        settle(page)


def test_the_keys_are_listed_and_can_be_turned_off_for_good(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    settle(page)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Turn off single-key shortcuts").check()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.reload()
    settle(page)
    for key in ("p", "/", "j", "?"):
        page.keyboard.press(key)
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("Paused by you.")).to_be_hidden()
    assert page.evaluate("document.activeElement === document.body")
    page.locator("#person summary").click()
    page.get_by_role("button", name="Keys").click()
    dialog.get_by_label("Turn off single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("p")
    expect(page.get_by_text("Paused by you.")).to_be_visible()


def test_a_path_is_copied_by_key_and_by_button(browser: Any, recorded: Served) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(recorded.address + f"/c/{BROKEN}/topics/orders/")
    settle(page)
    page.keyboard.press("j")
    page.keyboard.press("y")
    expect(page.locator("#status")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "/brokers/topics/orders/partitions/0/state"
    page.locator("#facts .copy").first.click()
    assert page.evaluate("navigator.clipboard.readText()") == "/brokers/topics/orders"
    context.close()


def test_tab_reaches_the_page_first_and_focus_shows(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


def test_a_chosen_theme_stays(browser: Any, recorded: Served) -> None:
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(recorded.address + TOPICS)
    settle(page)
    page.get_by_label("Theme").select_option("dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 26)"
    context.close()


def test_a_live_page_never_looks_old(page: Any, recorded: Served) -> None:
    """But where it is: on a machine so busy that nothing was proven for over 5 s."""
    page.goto(recorded.address + TOPICS)
    settle(page)
    looks = page.evaluate(
        """new Promise((done) => {
            const seen = [], line = document.getElementById("freshness");
            new MutationObserver((all, self) => {
                seen.push([line.textContent, line.classList.contains("old")]);
                if (seen.length > 2) { self.disconnect(); done(seen); }
            }).observe(line, { childList: true });
        })"""
    )
    for text, old in looks:
        told = re.fullmatch(r"(Live|Stale) · ([\d.]+) s ago", text)
        assert told, text
        assert old == (told[1] == "Stale"), text
        assert not old or float(told[2]) >= 5, text
