"""Pictures of embeds for `make screenshots`: where they are made, and one in a page of another origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.journeys import framing
from tests.serving import Served
from tests.signing import become_first

NAME = "vera"
_MANAGER = {"width": 900, "height": 320}
_FRAMED = {"width": 640, "height": 300}
# A page that knows nothing of zkdash, in the colours that its reader prefers.
_WIKI = """
<style>
  :root { color-scheme: light dark; }
  body { font: 15px/22px Georgia, serif; max-width: 600px; margin: 12px auto; }
  h1 { font-size: 20px; margin: 0 0 8px; } iframe { border: 1px solid #8888; height: 190px; }
</style>
<h2>On call: the shop</h2>
<p>Before you restart a broker, look here: <img src="%s" alt="a badge" height="20" valign="middle"></p>
%s
"""


def take(browser: Any, site: Served, cluster: str, directory: Path) -> None:
    """Make an administrator and some embeds of a cluster, and photograph them in both themes."""
    page = browser.new_page(viewport=_MANAGER, reduced_motion="reduce")
    become_first(page, site, NAME)
    manager = f"{site.address}/c/{cluster}/embeds/"
    with framing.parent() as wiki:
        frame = _make(page, manager, "overview", wiki.address).locator("#snippet").input_value()
        badge = _make(page, manager, "check:D8", "").locator("#badge").text_content()
        wiki.body = _WIKI % (badge, frame)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.goto(manager)
            page.screenshot(path=directory / f"embeds-{theme}.png", full_page=True)
            _framed(browser, wiki.address, theme, directory / f"embed-{theme}.png")
    page.close()


def _make(page: Any, manager: str, view: str, parents: str) -> Any:
    page.goto(manager)
    page.get_by_label("Shows").select_option(view)
    page.get_by_label("Pages that may frame it").fill(parents)
    page.get_by_role("button", name="Make the embed").click()
    return page


def _framed(browser: Any, address: str, theme: str, path: Path) -> None:
    """Where nobody is signed in: the embed's link is all that it needs."""
    page = browser.new_page(viewport=_FRAMED, color_scheme=theme, reduced_motion="reduce")
    page.goto(address)
    expect(page.frame_locator("iframe").locator("#freshness")).to_contain_text("Live")
    page.screenshot(path=path)
    page.close()
