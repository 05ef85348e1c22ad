"""One click from transaction logs to charts: the real worker, Spark and DuckDB, seen by a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.databases import Database
from tests.serving import Serve
from tests.signing import PASSWORD, sign_in
from tests.world import World
from zkdash.access.models import Grant
from zkdash.access.roles import Role

pytestmark = [
    pytest.mark.zk,
    pytest.mark.browser,
    pytest.mark.spark,
    pytest.mark.parametrize("database", ["sqlite"], indirect=True),
]

LIMIT_MS = 15_000
# Spark starts, loads and derives every table.
RUN_LIMIT_MS = 600_000


def test_one_click_fills_the_charts_and_the_timelines(  # noqa: PLR0917 - a whole installation
    page: Any, database: Database, world: World, chroot: Chroot, served: Serve, tmp_path: Path
) -> None:
    world.state("orders", 0, leader=2, isr=[2, 3], epoch=2)
    world.state("orders", 0, leader=1, isr=[1, 2, 3], epoch=3)
    user = User.objects.create_user("olga", password=PASSWORD)
    Grant.objects.create(user=user, role=Role.OPERATOR.value, clusters="*")
    config = tmp_path / "zkdash.toml"
    config.write_text(
        f'[clusters.shop]\nzookeeper = "{chroot.address}"\ntransaction_logs = "{chroot.server.data_dir}"\n'
    )
    site = served(ZKDASH_CONFIG=config, ZKDASH_RECORD="0", **database.environment)
    site.wait_until_loaded("shop")
    page.goto(f"{site.address}/sign-in/")
    sign_in(page, "olga")
    page.goto(f"{site.address}/c/shop/trends/")
    expect(page.locator("main")).to_contain_text("Nothing is recorded of this cluster yet.")
    page.get_by_role("link", name="pipeline", exact=True).click()
    expect(page.locator("#facts")).to_contain_text("no run has read the source yet")
    page.get_by_role("button", name="Run now").click()
    expect(page.locator("#runs-rows")).to_contain_text("olga")
    page.evaluate("window.opened = true")
    page.mouse.move(1, 1)
    expect(page.locator("#facts")).to_contain_text(re.compile(r"all is running: \d+ %"), timeout=LIMIT_MS * 2)
    expect(page.locator("#runs-rows")).to_contain_text("done", timeout=RUN_LIMIT_MS)
    expect(page.locator("#facts")).to_contain_text(re.compile(r"(under|over) \d+ transactions"))
    assert page.evaluate("window.opened"), "the page heard of it without being loaded again"
    page.goto(f"{site.address}/c/shop/trends/")
    expect(page.locator("section:has(#leader-churn) .plot canvas")).to_be_visible()
    expect(page.locator("section:has(#leader-churn)")).to_contain_text("orders")
    expect(page.locator("#paths")).to_contain_text("/brokers/topics")
    page.goto(f"{site.address}/c/shop/topics/orders/")
    page.locator("#timeline").scroll_into_view_if_needed()
    expect(page.locator("#recorded-rows")).to_contain_text("orders", timeout=LIMIT_MS)
    site.stop()
