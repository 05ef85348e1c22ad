"""`make screenshots`: pages of a simulated cluster in trouble, whole, in the light, some dark and on a phone.

The pictures go to docs/screenshots. The same seed tells the same story, so that two pictures of a page differ
by what was changed in its look (and by the times that it shows).
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kazoo.client import KazooClient
from playwright.sync_api import expect, sync_playwright

from tests import action_pictures, chromium, embed_pictures
from tests.history import hour
from tests.history.writing import MINUTE
from tests.serving import Served, starter
from tests.waiting import wait_for
from zkdash.demo.kafka39 import simulation
from zkdash.demo.zookeeper.server import Server

DIRECTORY = Path(__file__).resolve().parent.parent / "docs" / "screenshots"
SEED = 7
LIMIT_S = 90.0
MOST_BYTES = 700_000
MOST_BYTES_IN_ALL = 8_300_000

# As high at least; a page that is longer is shown whole.
_WIDE = {"width": 1440, "height": 720}
_NARROW = {"width": 360, "height": 640}


class Shot(NamedTuple):
    """One way to look at a page."""

    name: str
    viewport: dict[str, int]
    theme: str


# What is looked at on call, away from a desk.
ON_A_PHONE = {"clusters", "overview", "topic"}
# One of each kind of part, so that all pictures together stay small.
IN_THE_DARK = {"overview", "brokers", "topic"}
SHOTS = (
    Shot("light", _WIDE, "light"),
    Shot("dark", _WIDE, "dark"),
    Shot("360px", _NARROW, "light"),
)


def main() -> int:
    """Take all pictures; 1 where one of them, or all together, are too large to be kept."""
    with tempfile.TemporaryDirectory() as below, Server(Path(below) / "zookeeper") as zookeeper:
        cluster = simulation.Simulation(zookeeper.address + "/shop", seed=SEED, listen=True)
        well = simulation.Simulation(zookeeper.address + "/payments", seed=SEED)
        cluster.start()
        well.start()
        try:
            with starter(Path(below)) as start:
                history = Path(below) / "history"
                now = int(time.time() * 1000)
                hour.write(history / "shop", now - now % MINUTE - 59 * MINUTE)
                site = start(ZKDASH_CONFIG=_config(Path(below), zookeeper), ZKDASH_HISTORY=history)
                _bring_into_trouble(cluster, zookeeper, site)
                _photograph(site, _fail_for_a_while(well, site))
        finally:
            well.stop()
            cluster.stop()
    return _weigh()


def _config(below: Path, zookeeper: Server) -> Path:
    """The shop's cluster, one that is well, and one whose chroot somebody mistyped."""
    path = below / "zkdash.toml"
    path.write_text(
        f'[clusters.shop]\nzookeeper = "{zookeeper.address}/shop"\n'
        f'[clusters.payments]\nzookeeper = "{zookeeper.address}/payments"\n'
        f'[clusters.archive]\nzookeeper = "{zookeeper.address}/archvie"\n'
    )
    return path


def _fail_for_a_while(cluster: simulation.Simulation, site: Served) -> str:
    """A broker of the cluster that is well dies and comes back; the query for what differed meanwhile."""
    latest = "/c/payments/?at=latest&format=json"
    wait_for(lambda: site.get(latest).status == 200, limit_s=LIMIT_S, message=site.printed)
    before: str = site.json(latest)["past"]["at"]
    cluster.kill_broker(3)
    gone = "/c/payments/topics/?status=warning&format=json"
    wait_for(lambda: site.json(gone)["total"] > 20, limit_s=LIMIT_S, message=site.printed)
    wait_for(lambda: site.json(latest)["past"]["at"] > before, limit_s=LIMIT_S)
    during: str = site.json(latest)["past"]["at"]
    cluster.start_broker(3)
    wait_for(lambda: site.json(gone)["total"] < 5, limit_s=LIMIT_S, message=site.printed)
    return f"from={before}&at={during}"


def _bring_into_trouble(cluster: simulation.Simulation, zookeeper: Server, site: Served) -> None:
    """A broker dies, and somebody writes half a reassignment; wait until the checks say so."""
    site.wait_until_loaded("shop")
    cluster.kill_broker(5)
    client = KazooClient(hosts=zookeeper.address + "/shop")
    client.start(timeout=60.0)
    client.create("/admin/reassign_partitions", b'{"version":1,"partitions":[{"topic":"orders"')
    client.stop()
    client.close()
    wait_for(
        lambda: {"D8", "D30"} <= {row["check"] for row in site.json("/c/shop/?format=json")["rows"]},
        limit_s=LIMIT_S,
        message=site.printed,
    )


def _pages(difference: str) -> Iterator[tuple[str, str]]:
    """Names of pictures, and what they are of; `difference` is the query of two moments."""
    yield "clusters", "/"
    for name, path in (
        ("overview", ""),
        ("brokers", "brokers/"),
        ("broker", "brokers/1/"),
        ("topics", "topics/"),
        ("topic", "topics/orders/"),
        ("groups", "groups/"),
        ("group", "groups/fulfilment/"),
        ("what-if", "groups/fulfilment/what-if/?add=2"),
        ("checks", "checks/"),
        ("check", "checks/D8/"),
        ("zookeeper", "zookeeper/"),
        ("kraft", "kraft/"),
        ("problems", "problems/"),
        ("znodes", "znodes/brokers/ids#children"),
        ("znode", "znodes/brokers/topics/orders/partitions/0/state"),
        ("trends", "trends/"),
        ("timeline", "timeline/?topic=orders&q=replica+5"),  # some of its rows: all are a large picture
        ("pipeline", "pipeline/"),
        ("search", "search/?q=orders"),
    ):
        yield name, f"/c/shop/{path}"
    yield "past", f"/c/payments/brokers/?{difference}&width=10m"
    yield "differences", f"/c/payments/differences/?{difference}&width=10m&q=orders"


def _photograph(site: Served, difference: str) -> None:
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for old in DIRECTORY.glob("*.png"):
        old.unlink()
    with sync_playwright() as playwright:
        flags = [*chromium.FLAGS, "--disable-lcd-text", "--no-sandbox", "--hide-scrollbars"]
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=flags)
        for name, address in _pages(difference):
            for shot in SHOTS:
                if (shot.viewport is _NARROW and name not in ON_A_PHONE) or (
                    shot.theme == "dark" and name not in IN_THE_DARK
                ):
                    continue
                _take(browser, site.address + address, shot, DIRECTORY / f"{name}-{shot.name}.png")
        embed_pictures.take(browser, site, "shop", DIRECTORY)
        action_pictures.take(browser, site, "payments", DIRECTORY)
        browser.close()


def _take(browser: Any, address: str, shot: Shot, path: Path) -> None:
    page = browser.new_page(viewport=shot.viewport, color_scheme=shot.theme, reduced_motion="reduce")
    page.goto(address)
    if "/c/" in address and "at=" not in address:
        expect(page.locator("#freshness")).to_contain_text("Live")
    page.screenshot(path=path, full_page=True)
    page.close()


def _weigh() -> int:
    sizes = {path.name: path.stat().st_size for path in sorted(DIRECTORY.glob("*.png"))}
    for name, size in sizes.items():
        sys.stdout.write(f"{size / 1000:7.1f} kB  {name}\n")
    sys.stdout.write(f"{sum(sizes.values()) / 1000:7.1f} kB  in total\n")
    return int(max(sizes.values()) > MOST_BYTES or sum(sizes.values()) > MOST_BYTES_IN_ALL)


if __name__ == "__main__":
    sys.exit(main())
