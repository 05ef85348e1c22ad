"""The search box as a command palette: by the keyboard, by the pointer, and without a script."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys.sites import BROKEN, OPERATOR, VIEWER, Site
from tests.serving import Served

pytestmark = [pytest.mark.zk, pytest.mark.browser]

TOPICS = f"/c/{BROKEN}/topics/"


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("clicks", "/topics/clicks/"),
        ("retention.ms", r"/configs/\?q=retention.ms"),
        ("d9", "/checks/D9/"),
        ("under-repl", "/checks/D8/"),
        ("/brokers/id", "/znodes/brokers/ids"),
        ("timel", "/timeline/"),
    ],
)
def test_the_slash_and_a_few_letters_lead_there(
    page: Any, recorded: Served, typed: str, address: str
) -> None:
    page.goto(recorded.address + TOPICS)
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_be_focused()
    page.keyboard.insert_text(typed)  # at once: letter by letter, the list may be replaced as one walks it
    expect(page.locator("#suggestions [data-address]").first).to_have_attribute(
        "data-address", re.compile(address)
    )
    expect(page.get_by_role("listbox", name="Suggestions")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[role=option][aria-selected=true]")).to_have_attribute(
        "data-address", re.compile(address)
    )
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(address))


def test_suggestions_are_walked_left_and_chosen_with_the_pointer(page: Any, recorded: Served) -> None:
    page.goto(recorded.address + TOPICS)
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_have_attribute("aria-expanded", "false")
    box.fill("or")
    expect(box).to_have_attribute("aria-expanded", "true")
    options = page.locator("#suggestions [role=option]")
    expect(options.first).to_contain_text("orders")
    count = options.count()
    page.keyboard.press("ArrowUp")
    expect(box).to_have_attribute("aria-activedescendant", f"suggestion-{count - 1}")
    page.keyboard.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") is None, "the box itself"
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox", name="Suggestions")).to_be_hidden()
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.get_by_role("option", name=re.compile("orders")).first.click()
    expect(page.locator("h1")).to_have_text(re.compile("orders"))


def test_the_slash_finds_an_action_for_who_may_propose_it_and_for_nobody_else(
    opened: Callable[..., Any], site: Site
) -> None:
    operator = opened(site, OPERATOR)
    operator.goto(site.home + "topics/")
    operator.keyboard.press("/")
    operator.keyboard.insert_text("move rep")
    action = operator.locator("#suggestions [data-address$='/actions/new/reassign/']")
    expect(action).to_contain_text("Move replicas")
    action.click()
    expect(operator).to_have_url(re.compile("/actions/new/reassign/$"))
    plain = opened(site, VIEWER, java_script_enabled=False)
    plain.goto(site.home + "search/?q=move+rep")
    expect(plain.locator("h1")).to_contain_text("move rep")
    expect(plain.locator("main a[href*='/actions/new/']")).to_have_count(0)
    scriptless = opened(site, OPERATOR, java_script_enabled=False)
    scriptless.goto(site.home + "topics/")
    scriptless.locator("#search").fill("move rep")
    scriptless.locator("#search").press("Enter")
    scriptless.locator("main").get_by_role("link", name="Move replicas").click()
    expect(scriptless).to_have_url(re.compile("/actions/new/reassign/$"))
