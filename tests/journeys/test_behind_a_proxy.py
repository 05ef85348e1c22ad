"""Below a path of a proxy's host, by TLS: what a person does there, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import signing
from tests.conftest import Chroot
from tests.nginx import Nginx
from tests.serving import Serve
from tests.world import World
from zkdash.demo.runtime import ports

pytestmark = [pytest.mark.zk, pytest.mark.browser]

PREFIX = "/ops/zkdash"
ELECTION = "/admin/preferred_replica_election"


def test_what_a_person_does_works_below_a_prefix_by_tls(
    served: Serve, chroot: Chroot, world: World, opened: Callable[..., Any], tmp_path: Path
) -> None:
    (port,) = ports.free()
    with Nginx(tmp_path / "nginx", [port], PREFIX) as proxy:
        site = served(
            port=str(port),
            forked=False,  # addresses are made when modules are imported
            ZKDASH_ZOOKEEPER=chroot.address,
            ZKDASH_PREFIX=PREFIX,
            ZKDASH_HTTPS="1",
            ZKDASH_PROXIES="127.0.0.1",
            ZKDASH_ORIGINS=proxy.origin,
            ZKDASH_ANONYMOUS_READ="0",
            ZKDASH_RECORD="0",
        )
        page = opened(ignore_https_errors=True)
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        link = signing.first_link(site).partition("/welcome/")[2]
        signing.become_first(page, site, link=f"{proxy.address}/welcome/{link}")

        page.goto(f"{proxy.address}/c/default/topics/orders/")
        page.mouse.move(1, 1)
        expect(page.locator("#freshness")).to_contain_text("Live")
        page.evaluate("window.opened = true")
        world.state("orders", 0, leader=2, isr=[1, 2], epoch=1)
        expect(page.locator("main tbody tr").first).to_have_attribute("data-severity", "warning")
        assert page.evaluate("window.opened === true")

        page.goto(f"{proxy.address}/c/default/actions/new/elect-preferred/?partition=orders-0")
        page.get_by_role("button", name="Propose").click()
        expect(page.locator(".review")).to_contain_text(ELECTION)
        page.get_by_role("button", name="Submit").click()
        expect(page.locator("#facts")).to_contain_text("verifying: waits until")
        world.state("orders", 0, leader=1, isr=[1, 2, 3], epoch=2)
        chroot.client.delete(ELECTION)
        expect(page.locator("#facts li.now")).to_have_text("done")

        page.goto(f"{proxy.address}/c/default/embeds/?view=number:brokers")
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("main")).to_contain_text("brokers")
        page.get_by_role("button", name="Make the embed").click()
        expect(page.locator("#snippet")).to_have_value(re.compile(f'src="{re.escape(proxy.address)}/embed/'))

        signing.sign_out(page)
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert [each for each in requests if not each.startswith((f"{proxy.address}/", "data:"))] == []
