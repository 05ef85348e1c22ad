"""What is wrong with how a page looks: what axe-core has against it, and what makes it scroll sideways.

A theme is CSS alone: the same markup, in other colours. So every rule is tried in the light one, and in the
dark one those that look at colours; in a full run (`tests.full`) every rule in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import axe_playwright_python

from tests import full
from tests.waiting import wait_for

PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1366, "height": 768}

_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
_OF_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
_RUN = """([within, options]) => axe.run(within, { resultTypes: ['violations'], ...options })
  .then(({ passes, violations }) => [passes.length, violations])"""
# Which elements stick out, for whoever reads the failure.
_WIDEST = """[...document.querySelectorAll('body *')]
  .filter((el) => el.getBoundingClientRect().right > innerWidth && !el.closest('.sheet'))
  .map((el) => el.outerHTML.slice(0, 100)).slice(0, 5)"""


def prepare(page: Any) -> None:
    """Have axe at hand on every page that is opened here: cheaper than to bring it to each."""
    page.add_init_script(_AXE)


def violations(page: Any, within: str = "html", *, theme: str = "light", iframes: bool = True) -> list[Any]:
    """Each violation in the page (or frame) as it looks now: rule, sentence, markup of what violates it."""
    # Evaluated by the debugger, so that the page's own policy against foreign scripts stands.
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(_AXE)
    rules = full.pick(_OF_COLOURS, {}) if theme == "dark" else {}
    passes, found = page.evaluate(_RUN, [within, {"iframes": iframes, **rules}])
    assert passes, page.url
    return [(one["id"], one["help"], [node["html"][:200] for node in one["nodes"][:5]]) for one in found]


def in_both_themes(page: Any, within: str = "html", *, iframes: bool = True) -> dict[str, list[Any]]:
    """The same by theme, where something violates a rule; the page is light afterwards."""
    found = {}
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        found[theme] = violations(page, within, theme=theme, iframes=iframes)
    return {theme: said for theme, said in found.items() if said}


def sideways(page: Any, viewports: Mapping[str, dict[str, int]]) -> dict[str, list[str]]:
    """What sticks out where the page scrolls sideways, by viewport. What a script draws may follow later."""
    usual, found = page.viewport_size, {}
    for name, viewport in viewports.items():
        page.set_viewport_size(viewport)
        try:
            wait_for(lambda: page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), limit_s=30)
        except AssertionError:
            found[name] = page.evaluate(_WIDEST)
    page.set_viewport_size(usual)
    return found


def faults(page: Any) -> dict[str, Any]:
    """All of it, of one page in both themes on a laptop and on a phone; empty where all is well."""
    found = in_both_themes(page, iframes=False)
    return found | sideways(page, {"a laptop": LAPTOP, "a phone": PHONE})
