"""Personal tokens in a real browser: made, shown once, used by a program, revoked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import looking
from tests.journeys.sites import VIEWER, Site

pytestmark = [pytest.mark.zk, pytest.mark.browser]


def test_a_person_makes_a_token_that_a_program_shows_until_it_is_revoked(
    opened: Callable[..., Any], closed: Site
) -> None:
    page = opened(closed, VIEWER, viewport=looking.PHONE)
    page.goto(closed.address + "/tokens/")
    page.get_by_label("Name: what uses it").fill("nightly report")
    page.get_by_role("button", name="Make a token").click()
    token = page.locator("#token").text_content()
    assert looking.faults(page) == {}

    def asked() -> int:
        address = f"{closed.path}topics/?format=json"
        return closed.served.get(address, Authorization=f"Bearer {token}").status

    assert asked() == 200
    page.goto(closed.address + "/tokens/")
    expect(page.locator("#token")).to_have_count(0)
    expect(page.get_by_role("row", name="nightly report")).to_contain_text("valid")
    assert looking.faults(page) == {}
    page.get_by_role("button", name="Revoke nightly report").click()
    expect(page.get_by_role("row", name="nightly report")).to_contain_text("revoked")
    assert asked() == 401
