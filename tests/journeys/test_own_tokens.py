"""Personal tokens in a real browser: made, shown once, used by a program, revoked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.serving import Serve
from tests.signing import become_first

pytestmark = [pytest.mark.zk, pytest.mark.browser]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
PHONE = {"width": 360, "height": 740}


def sound(page: Any) -> None:
    """Nothing against the page in either theme, and no bar to scroll it sideways."""
    page.evaluate(AXE)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == [], theme
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


@pytest.mark.usefixtures("world")
def test_a_person_makes_a_token_that_a_program_shows_until_it_is_revoked(
    browser: Any, chroot: Chroot, served: Serve
) -> None:
    site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_ANONYMOUS_READ="0")
    page = browser.new_context(viewport=PHONE).new_page()
    become_first(page, site)
    page.goto(site.address + "/tokens/")
    page.get_by_label("Name: what uses it").fill("nightly report")
    page.get_by_role("button", name="Make a token").click()
    token = page.locator("#token").text_content()
    sound(page)

    def asked() -> int:
        return site.get("/c/default/topics/?format=json", Authorization=f"Bearer {token}").status

    assert asked() == 200
    page.goto(site.address + "/tokens/")
    expect(page.locator("#token")).to_have_count(0)
    expect(page.get_by_role("row", name="nightly report")).to_contain_text("valid")
    sound(page)
    page.get_by_role("button", name="Revoke nightly report").click()
    expect(page.get_by_role("row", name="nightly report")).to_contain_text("revoked")
    assert asked() == 401
    page.context.close()
