"""How a person becomes the first administrator, and signs in, in a real browser."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.serving import Served
from tests.waiting import wait_for

PASSWORD = "correct horse battery"


def first_link(site: Served) -> str:
    """The one-time link that a `serve` without an administrator prints, at the address where it is asked."""
    wait_for(lambda: "/welcome/" in site.out.read_text(), limit_s=60, message=site.printed)
    printed = next(word for word in site.out.read_text().split() if "/welcome/" in word)
    return f"{site.address}/welcome/{printed.partition('/welcome/')[2]}"


def become_first(page: Any, site: Served, name: str = "root", *, link: str = "") -> None:
    """Make the administrator by that link, or as a proxy shows it; the page is signed in then."""
    page.goto(link or first_link(site))
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password confirmation").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect_signed_in(page, name)


def expect_signed_in(page: Any, name: str) -> None:
    """The page names who is signed in."""
    expect(page.locator("#person summary")).to_have_text(name)


def sign_out(page: Any) -> None:
    """By the menu under one's name."""
    page.locator("#person summary").click()
    page.get_by_role("button", name="Sign out").click()


def sign_in(page: Any, name: str, password: str = PASSWORD) -> None:
    """Fill the form of the sign-in page, on which the page is."""
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
