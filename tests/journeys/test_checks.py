"""A fault in a real ZooKeeper, from when it shows to when nobody needs to know of it any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.databases import Database
from tests.serving import Serve, Served
from tests.signing import PASSWORD, sign_in
from tests.waiting import wait_for
from tests.world import World
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.actions.models import Audit
from zkdash.alarms.models import Acknowledgement, Occurrence

pytestmark = [
    pytest.mark.zk,
    pytest.mark.browser,
    pytest.mark.parametrize("database", ["sqlite"], indirect=True),
]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
HOME, CHECK = "/c/default/", "/c/default/checks/D17/"
LIMIT_MS = 20_000


@pytest.fixture
def site(database: Database, world: World, chroot: Chroot, served: Serve) -> Iterator[Served]:
    """The cluster, served; olga is its operator."""
    olga = User.objects.create_user("olga", password=PASSWORD)
    Grant.objects.create(user=olga, role=Role.OPERATOR.value, clusters="*")
    server = served(ZKDASH_ZOOKEEPER=chroot.address, **database.environment)
    server.wait_until_loaded()
    yield server
    server.stop()


def test_a_fault_shows_is_acknowledged_and_clears(page: Any, site: Served, chroot: Chroot) -> None:
    page.goto(f"{site.address}/sign-in/")
    sign_in(page, "olga")
    page.goto(site.address + HOME)
    leading = page.locator("#checks > .checks")
    fault = leading.locator("[data-check=D17]")
    expect(page.locator("#checks")).to_contain_text("No check fails", timeout=LIMIT_MS)

    chroot.client.set("/controller_epoch", b"0")  # as from a backup: every state is ahead of it
    expect(fault).to_have_count(1, timeout=LIMIT_MS)
    expect(page).to_have_title(re.compile("^✕ 1 "))
    fault.locator(".what a").click()

    expect(page).to_have_url(site.address + CHECK)
    expect(page.locator("#causes-rows th")).to_have_text(["orders", "payments"])
    page.locator("#causes-rows th a").first.click()
    expect(page.locator("#held-against")).to_contain_text("3 partitions of 1 topic")
    page.locator("#held-against a").click()
    expect(page.locator("#occurrence input")).to_have_value("1", timeout=LIMIT_MS)
    page.evaluate(AXE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("axe.run().then((found) => found.violations.map((one) => one.id))") == []

    page.get_by_label("Acknowledge, because").fill("the epoch was restored by hand")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page).to_have_url(site.address + CHECK)
    expect(page.locator("#acknowledgements")).to_contain_text(
        "the epoch was restored by hand", timeout=LIMIT_MS
    )
    page.goto(site.address + HOME)
    expect(page.locator("#acknowledged summary")).to_have_text("1 acknowledged", timeout=LIMIT_MS)
    expect(fault).to_have_count(0)
    expect(page).to_have_title(re.compile("^Overview"))

    chroot.client.set("/controller_epoch", b"1")
    expect(page.locator("#acknowledged")).to_have_count(0, timeout=LIMIT_MS)
    expect(page.locator("#checks")).to_contain_text("No check fails", timeout=LIMIT_MS)
    wait_for(lambda: not Occurrence.objects.filter(check_id="D17", cleared_at=None), 10)
    assert [str(one) for one in Occurrence.objects.filter(check_id="D17")] == ["default/D17/1"]
    assert Acknowledgement.objects.get().ended_why == "The finding cleared."
    assert Audit.objects.filter(event="acknowledged", who="olga").count() == 1
