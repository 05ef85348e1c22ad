"""Signing in and out in a real browser, losing rights while a page is open, granting them in the admin."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import looking
from tests.journeys.sites import ROOT, VIEWER, Site, Sites
from tests.signing import PASSWORD, become_first, expect_signed_in, first_link, sign_in, sign_out
from zkdash.access.roles import Role

pytestmark = [pytest.mark.zk, pytest.mark.browser]

LONG_NAME = "a.name.as.long.as.the.form.takes.it-" * 4 + "abcdef"


@pytest.fixture(scope="module")
def closed(closed_sites: Sites) -> Iterator[Site]:
    """A cluster that nobody may see without signing in, and that nothing changes."""
    with closed_sites.site() as found:
        yield found


@pytest.fixture
def root(opened: Callable[..., Any], closed: Site) -> Any:
    """The page of an administrator."""
    return opened(closed, ROOT)


_numbers = itertools.count(1)


@pytest.fixture
def person(closed: Site) -> str:
    """The name of somebody who may look, and whom nobody else knows."""
    name = f"person-{next(_numbers)}"
    closed.process.person(name, Role.VIEWER)
    return name


def make_user(root: Any, site: Site, name: str, role: str = "viewer") -> None:
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


def change(root: Any, site: Site, name: str) -> None:
    """Open somebody in the admin, as from its list."""
    root.goto(f"{site.address}/admin/auth/user/?q={name}")
    root.locator("#result_list").get_by_role("link", name=name, exact=True).click()
    expect(root.locator("#id_username")).to_have_value(name)


def save(root: Any) -> None:
    root.get_by_role("button", name="Save", exact=True).click()
    expect(root.locator(".messagelist")).to_contain_text("was changed successfully")


def test_the_printed_link_makes_an_administrator_once(page: Any, closed: Site) -> None:
    link = first_link(closed.served)
    page.set_viewport_size(looking.PHONE)
    page.goto(link)
    assert looking.faults(page) == {}
    become_first(page, closed.served, "the-first")
    page.goto(closed.address + "/admin/")
    expect(page.get_by_role("link", name="Users")).to_be_visible()
    page.goto(link)
    expect(page.locator("main")).to_contain_text("This link has been used; it works once.")
    assert looking.faults(page) == {}


def test_one_signs_in_sees_the_page_that_was_asked_for_and_signs_out(page: Any, closed: Site) -> None:
    page.goto(closed.home + "topics/?q=orders")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(page, "mallory")
    expect(page.locator("p.problem")).to_contain_text("Please enter a correct username and password")
    sign_in(page, VIEWER)
    expect(page.locator("main tbody th")).to_have_text("orders")
    expect(page).to_have_url(closed.home + "topics/?q=orders")
    expect(page.locator("#freshness")).to_contain_text("Live")
    sign_out(page)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(closed.home + "topics/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_open_page_says_that_its_rights_are_gone(root: Any, page: Any, closed: Site, person: str) -> None:
    page.goto(closed.home + "topics/")
    sign_in(page, person)
    expect(page.locator("#freshness")).to_contain_text("Live")
    change(root, closed, person)
    root.locator("#id_grants-0-DELETE").check()
    save(root)
    expect(page.locator("#banner")).to_contain_text(f"No cluster named “{closed.cluster}” is configured")
    expect(page.locator("#freshness")).not_to_contain_text("Live")
    change(root, closed, person)
    root.locator("#id_is_active").uncheck()
    save(root)
    expect(page.locator("#banner")).to_contain_text("You are signed out")
    page.get_by_role("link", name="Load the page again").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_page_whose_rights_changed_goes_on_with_the_new_ones(
    root: Any, page: Any, closed: Site, person: str
) -> None:
    page.add_init_script("addEventListener('htmx:wsOpen', () => { window.opens = (window.opens ?? 0) + 1; })")
    page.goto(closed.home + "topics/")
    sign_in(page, person)
    page.wait_for_function("() => window.opens === 1")
    change(root, closed, person)
    root.locator("#id_grants-0-role").select_option("operator")
    save(root)
    page.wait_for_function("() => window.opens === 2")
    expect(page.locator("#freshness")).to_contain_text("Live")


def test_the_admin_works_under_the_policy_that_every_page_has(root: Any, closed: Site) -> None:
    blocked: list[str] = []
    root.on(
        "console", lambda said: blocked.append(said.text) if "Content Security Policy" in said.text else 0
    )
    name = f"made-{next(_numbers)}"
    make_user(root, closed, name)
    for path in (
        "",
        "auth/user/",
        f"auth/user/?q={name[:4]}",
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
    change(root, closed, name)
    root.locator("#id_groups_from").select_option(label="on call")
    root.locator("#id_groups_add").click()  # the admin's own script runs
    save(root)
    change(root, closed, name)
    expect(root.locator("#id_groups_to option")).to_have_text("on call")
    assert blocked == []


def test_axe_finds_nothing_against_signing_in(opened: Callable[..., Any], closed: Site) -> None:
    page = opened(viewport=looking.PHONE)
    page.goto(f"{closed.address}/sign-in/?next={closed.path}")
    assert looking.faults(page) == {}, "the form"
    sign_in(page, "nobody")
    expect(page.locator("p.problem")).to_be_visible()
    assert looking.faults(page) == {}, "a failure"
    page.goto(closed.address + "/welcome/none/")
    assert looking.faults(page) == {}, "a link that is none"


def test_the_longest_name_pushes_nothing_off_the_page(opened: Callable[..., Any], closed: Site) -> None:
    closed.process.person(LONG_NAME, Role.VIEWER)
    page = opened(viewport=looking.PHONE)
    page.goto(closed.home)
    sign_in(page, LONG_NAME)
    expect_signed_in(page, LONG_NAME)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= looking.PHONE["width"]
    assert looking.violations(page, "header") == []


def test_signing_in_and_out_needs_no_script(opened: Callable[..., Any], closed: Site) -> None:
    page = opened(java_script_enabled=False)
    page.goto(closed.home + "topics/")
    sign_in(page, VIEWER)
    expect(page.locator("main tbody th")).to_have_text(["orders", "payments"])
    sign_out(page)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
