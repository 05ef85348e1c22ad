"""Signing in and out in a real browser, losing rights while a page is open, granting them in the admin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.serving import Serve, Served
from tests.signing import PASSWORD, become_first, first_link, sign_in
from tests.world import World

pytestmark = [pytest.mark.zk, pytest.mark.browser]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
LIMIT_MS = 15_000
LONG_NAME = "a.name.as.long.as.the.form.takes.it-" * 4 + "abcdef"
PHONE = {"width": 360, "height": 740}


@pytest.fixture
def closed(world: World, chroot: Chroot, served: Serve) -> Served:
    """The world's cluster, which nobody may see without signing in; its log holds the first link."""
    return served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_ANONYMOUS_READ="0")


@pytest.fixture
def root(browser: Any, closed: Served) -> Iterator[Any]:
    """The page of the first administrator, made by the link."""
    context = browser.new_context()
    page = context.new_page()
    become_first(page, closed)
    yield page
    context.close()


def make_user(root: Any, site: Served, name: str, role: str = "viewer") -> None:
    """As an administrator does it: a user, then a role on every cluster."""
    root.goto(site.address + "/admin/auth/user/add/")
    root.locator("#id_username").fill(name)
    root.locator("#id_password1").fill(PASSWORD)
    root.locator("#id_password2").fill(PASSWORD)
    root.get_by_role("button", name="Save", exact=True).click()
    expect(root.locator(".messagelist")).to_contain_text("was added successfully")
    root.locator("#id_grants-0-role").select_option(role)
    root.get_by_role("button", name="Save", exact=True).click()
    expect(root.locator(".messagelist")).to_contain_text("was changed successfully")


def violations(page: Any, within: str = "html") -> list[Any]:
    page.evaluate(AXE)
    found = page.evaluate(f"axe.run('{within}', {{resultTypes: ['violations']}})")["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]


def test_one_signs_in_sees_the_page_that_was_asked_for_and_signs_out(
    root: Any, page: Any, closed: Served
) -> None:
    make_user(root, closed, "vera")
    page.goto(closed.address + "/c/default/topics/?q=orders")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(page, "mallory")
    expect(page.locator("p.problem")).to_contain_text("Please enter a correct username and password")
    sign_in(page, "vera")
    expect(page.locator("main tbody th")).to_have_text("orders")
    expect(page).to_have_url(closed.address + "/c/default/topics/?q=orders")
    expect(page.locator("#freshness")).to_contain_text("Live", timeout=LIMIT_MS)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(closed.address + "/c/default/topics/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_open_page_says_that_its_rights_are_gone(root: Any, page: Any, closed: Served) -> None:
    make_user(root, closed, "vera")
    page.goto(closed.address + "/c/default/topics/")
    sign_in(page, "vera")
    expect(page.locator("#freshness")).to_contain_text("Live", timeout=LIMIT_MS)
    root.locator("#result_list").get_by_role("link", name="vera").click()
    root.locator("#id_grants-0-DELETE").check()
    root.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#banner")).to_contain_text(
        "No cluster named “default” is configured", timeout=LIMIT_MS
    )
    expect(page.locator("#freshness")).not_to_contain_text("Live")
    root.locator("#result_list").get_by_role("link", name="vera").click()
    root.locator("#id_is_active").uncheck()
    root.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#banner")).to_contain_text("You are signed out", timeout=LIMIT_MS)
    page.get_by_role("link", name="Load the page again").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_page_whose_rights_changed_goes_on_with_the_new_ones(root: Any, page: Any, closed: Served) -> None:
    make_user(root, closed, "vera")
    page.goto(closed.address + "/c/default/topics/")
    sign_in(page, "vera")
    expect(page.locator("#freshness")).to_contain_text("Live", timeout=LIMIT_MS)
    page.evaluate("addEventListener('htmx:wsOpen', () => { document.body.dataset.came = 'back'; })")
    root.locator("#result_list").get_by_role("link", name="vera").click()
    root.locator("#id_grants-0-role").select_option("operator")
    root.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("body")).to_have_attribute("data-came", "back", timeout=LIMIT_MS)
    expect(page.locator("#freshness")).to_contain_text("Live", timeout=LIMIT_MS)


def test_the_admin_works_under_the_policy_that_every_page_has(root: Any, closed: Served) -> None:
    blocked: list[str] = []
    root.on(
        "console", lambda said: blocked.append(said.text) if "Content Security Policy" in said.text else 0
    )
    make_user(root, closed, "vera")
    for path in (
        "",
        "auth/user/",
        "auth/user/?q=ver",
        "auth/user/add/",
        "auth/group/add/",
        "access/grant/add/",
        "actions/action/",
        "actions/audit/",
        "password_change/",
    ):
        answer = root.goto(closed.address + f"/admin/{path}")
        assert answer.status == 200, path
        assert "style-src 'self';" in answer.headers["content-security-policy"]
    root.goto(closed.address + "/admin/auth/group/add/")
    root.locator("#id_name").fill("on call")
    root.get_by_role("button", name="Save", exact=True).click()
    root.goto(closed.address + "/admin/auth/user/")
    root.locator("#result_list").get_by_role("link", name="vera").click()
    root.locator("#id_groups_from").select_option(label="on call")
    root.locator("#id_groups_add").click()  # the admin's own script runs
    root.get_by_role("button", name="Save", exact=True).click()
    root.locator("#result_list").get_by_role("link", name="vera").click()
    expect(root.locator("#id_groups_to option")).to_have_text("on call")
    assert blocked == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_against_signing_in(browser: Any, closed: Served, theme: str) -> None:
    context = browser.new_context(color_scheme=theme, viewport=PHONE)
    page = context.new_page()
    found = {}
    for path in (
        "/sign-in/?next=/c/default/",
        first_link(closed).removeprefix(closed.address),
        "/welcome/none/",
    ):
        page.goto(closed.address + path)
        found[path] = violations(page)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"], path
    page.goto(closed.address + "/sign-in/")
    sign_in(page, "nobody")
    found["a failure"] = violations(page)
    context.close()
    assert not any(found.values()), found


def test_the_longest_name_pushes_nothing_off_the_page(root: Any, browser: Any, closed: Served) -> None:
    make_user(root, closed, LONG_NAME)
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    page.goto(closed.address + "/c/default/")
    sign_in(page, LONG_NAME)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
    assert violations(page, "header") == []
    context.close()


def test_signing_in_and_out_needs_no_script(root: Any, browser: Any, closed: Served) -> None:
    make_user(root, closed, "vera")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(closed.address + "/c/default/topics/")
    sign_in(page, "vera")
    expect(page.locator("main tbody th")).to_have_text(["orders", "payments"])
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    context.close()
