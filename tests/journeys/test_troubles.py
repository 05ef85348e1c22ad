"""What an open page says while ZooKeeper is away, and that a bad cluster costs its neighbours nothing."""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import expect

from tests.conftest import TICK_MS
from tests.journeys import pace, sites
from tests.serving import Served, starter
from tests.world import World
from zkdash.demo.zookeeper.server import Server

pytestmark = [pytest.mark.zk, pytest.mark.browser]


def settle(page: Any) -> None:
    page.mouse.move(1, 1)
    expect(page.locator("#freshness")).to_contain_text("Live")


class Scene(NamedTuple):
    """One process that serves five clusters: in a ZooKeeper of its own each, `leaving` and `short`, whose
    sessions last 2 s; `fine`; `away`, where nobody listens; `mistyped`, whose chroot is not there.
    """

    site: Served
    leaving: Server
    short: Server
    world: World
    nobody: str


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, zookeeper: Server) -> Iterator[Scene]:
    below = tmp_path_factory.mktemp("troubles")
    with contextlib.ExitStack() as opened:
        own = [opened.enter_context(Server(below / name, tick_time_ms=TICK_MS)) for name in ("one", "two")]
        for server in own:
            with sites.connected(server.address) as client:
                client.create("/brokers/topics/before", b'{"version":1,"partitions":{}}', makepath=True)
        client = opened.enter_context(sites.connected(zookeeper.address))
        client.create("/troubles")
        opened.callback(client.delete, "/troubles", recursive=True)
        fine = f"{zookeeper.address}/troubles"
        chrooted = opened.enter_context(sites.connected(fine))
        world = opened.enter_context(contextlib.closing(sites.small(chrooted, fine)))
        # Bound and never listened on: whoever dials it is refused, and nobody else can take it.
        silent = opened.enter_context(socket.socket())
        silent.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{silent.getsockname()[1]}"
        config = below / "zkdash.toml"
        config.write_text(
            f'[clusters.leaving]\nzookeeper = "{own[0].address}"\n'
            f'[clusters.short]\nzookeeper = "{own[1].address}"\nsession_timeout_s = 2\n'
            f'[clusters.fine]\nzookeeper = "{fine}"\n'
            f'[clusters.away]\nzookeeper = "{nobody}"\n'
            f'[clusters.mistyped]\nzookeeper = "{zookeeper.address}/no/such/chroot"\n'
        )
        site = opened.enter_context(starter(below))(ZKDASH_CONFIG=config)
        for name in ("leaving", "short", "fine"):
            site.wait_until_loaded(name)
        yield Scene(site, own[0], own[1], world, nobody)


def test_a_page_says_that_it_is_stale_while_zookeeper_is_away_and_when_it_is_back(
    page: Any, scene: Scene
) -> None:
    page.goto(scene.site.address + "/c/leaving/topics/")
    settle(page)
    scene.leaving.stop()
    banner = page.locator("#banner")
    expect(banner).to_contain_text("Reconnecting to ZooKeeper.")
    expect(banner).to_contain_text("Data as of")
    expect(page.locator("#freshness")).to_contain_text("Stale")
    expect(page.locator("main tbody th")).to_have_text("before")
    scene.leaving.start()
    settle(page)
    expect(banner).to_be_empty()
    with sites.connected(scene.leaving.address) as client:
        client.create("/brokers/topics/after", b'{"version":1,"partitions":{}}')
    expect(page.locator("main tbody th")).to_have_count(2)


def test_a_lost_session_is_said_and_its_last_state_stays(page: Any, scene: Scene) -> None:
    page.goto(scene.site.address + "/c/short/topics/")
    settle(page)
    scene.short.stop()
    expect(page.locator("#banner p.critical")).to_contain_text(
        re.compile("Session lost|No connection to ZooKeeper")
    )
    expect(page.locator("#banner")).to_contain_text("the last known state")
    expect(page.locator("main tbody th")).to_have_text("before")
    assert page.locator(".sheet").evaluate("(el) => getComputedStyle(el).borderLeftStyle") == "dashed"
    scene.short.start()
    settle(page)
    expect(page.locator("#banner")).to_be_empty()


def test_beside_an_unreachable_cluster_and_a_wrong_chroot_the_third_is_as_live_as_alone(
    page: Any, scene: Scene
) -> None:
    page.goto(scene.site.address)
    lines = page.locator("#clusters-rows tr")
    expect(lines).to_have_count(5)

    def said(name: str) -> Any:
        return lines.filter(has=page.get_by_role("link", name=name, exact=True)).locator(".verdict")

    expect(said("away")).to_contain_text(scene.nobody)
    expect(said("mistyped")).to_contain_text("has no znode /no/such/chroot")
    expect(said("fine")).to_have_text("No check fails.")
    lines.get_by_role("link", name="fine", exact=True).click()
    page.get_by_role("link", name=re.compile("^Topics")).first.click()
    expect(page.locator("h1")).to_have_text("Topics of fine")
    settle(page)
    took = []
    for number in range(5):
        pace.listen(
            page, f"[...document.querySelectorAll('tbody th')].some((e) => e.innerText === 'new-{number}')"
        )
        scene.world.state("orders", 0, leader=1, isr=[1, 2], epoch=number)
        scene.world.topic(f"new-{number}", {0: [1]})
        written = time.time()
        took.append(pace.heard_s(page, written))
    assert max(took) < pace.allowed_s(1.0, page)
    alive_s = _answer_s(scene.site, "/healthz")  # which looks at no cluster
    assert _answer_s(scene.site, "/c/fine/topics/") < max(0.25, 20 * alive_s)


def _answer_s(site: Served, path: str) -> float:
    """The best of ten, in seconds: what the process needs, whatever the machine is doing beside it."""
    times = []
    for _ in range(10):
        started = time.monotonic()
        assert site.get(path).status == 200
        times.append(time.monotonic() - started)
    return min(times)
