"""Pictures of an action for `make screenshots`: a broker is drained, from the form to the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.embed_pictures import NAME
from tests.serving import Served
from tests.signing import sign_in

LIMIT_MS = 120_000
_WIDE = {"width": 1440, "height": 720}


def take(browser: Any, site: Served, cluster: str, directory: Path) -> None:
    """Drain broker 4 of a cluster that is well, as the administrator that `embed_pictures` made."""
    page = browser.new_page(viewport=_WIDE, reduced_motion="reduce")
    page.goto(f"{site.address}/sign-in/?next=/c/{cluster}/actions/new/reassign/%3Fway=drain%26broker=4")
    sign_in(page, NAME)
    page.get_by_label("Topics").fill("orders")
    _take(page, directory / "form")
    page.get_by_role("button", name="Propose").click()
    page.locator(".review").wait_for()
    _take(page, directory / "review")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#moves-rows")).to_contain_text("it is where it should be", timeout=LIMIT_MS)
    _take(page, directory / "action")
    expect(page.locator("#facts li.now")).to_have_text("done", timeout=LIMIT_MS)
    for name in ("actions", "audit"):
        page.goto(f"{site.address}/c/{cluster}/{name}/")
        expect(page.locator("#freshness")).to_contain_text("Live")
        _take(page, directory / name)
    page.close()


def _take(page: Any, path: Path) -> None:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.screenshot(path=path.with_name(f"{path.name}-{theme}.png"), full_page=True)
