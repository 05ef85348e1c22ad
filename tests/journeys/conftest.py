"""What the journeys share: small clusters in a real ZooKeeper, served by real processes, and browsers."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import everywhere, full
from tests.conftest import Chroot
from tests.demo.test_simulation_command import Demo
from tests.journeys import sites
from tests.journeys.sites import Process, Site, Sites
from tests.serving import Served, served
from tests.waiting import wait_for
from tests.world import World
from zkdash.demo.zookeeper.server import Server

__all__ = ["served"]

DEMO_LIMIT_S = 60.0
PROXIED = "proxied"
WAYS = full.pick(None, ["direct", PROXIED])


@pytest.fixture
def world(chroot: Chroot) -> Iterator[World]:
    """A small cluster for a test that serves it by itself."""
    with contextlib.closing(sites.small(chroot.client, chroot.address)) as made:
        yield made


@pytest.fixture(scope="session", params=WAYS)
def proxied(request: pytest.FixtureRequest) -> bool:
    """Whether browsers come through a proxy: in a full run they come both ways."""
    return getattr(request, "param", "") == PROXIED


@pytest.fixture(scope="session")
def open_sites(
    tmp_path_factory: pytest.TempPathFactory, zookeeper: Server, django_db_blocker: Any, proxied: bool
) -> Iterator[Sites]:
    """Clusters that everybody may see."""
    below = tmp_path_factory.mktemp("open")
    made = Sites(below, zookeeper, django_db_blocker.unblock, proxied=proxied)
    with contextlib.closing(made) as found:
        yield found


@pytest.fixture(scope="session")
def closed_sites(
    tmp_path_factory: pytest.TempPathFactory, zookeeper: Server, django_db_blocker: Any, proxied: bool
) -> Iterator[Sites]:
    """Clusters that nobody may see without signing in. Nothing is recorded of them but by the tests."""
    below = tmp_path_factory.mktemp("closed")
    made = Sites(
        below,
        zookeeper,
        django_db_blocker.unblock,
        proxied=proxied,
        ZKDASH_ANONYMOUS_READ="0",
        ZKDASH_RECORD="0",
    )
    with contextlib.closing(made) as found:
        yield found


@pytest.fixture
def site(open_sites: Sites) -> Iterator[Site]:
    """A small cluster of the test's own, which everybody may see."""
    with open_sites.site() as found:
        yield found


@pytest.fixture
def closed(closed_sites: Sites) -> Iterator[Site]:
    """One that nobody may see without signing in, and that has no history yet."""
    with closed_sites.site() as found:
        yield found


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The recorded clusters that `sites` names, served by one process, which nothing changes."""
    with everywhere.serving(
        tmp_path_factory.mktemp("recorded"), (sites.BROKEN, sites.WELL, sites.OLD, sites.BAD)
    ) as server:
        yield server


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    """`manage.py demo`, which serves."""
    started = Demo(tmp_path / "data")
    try:
        wait_for(lambda: "Ctrl-C" in started.printed, DEMO_LIMIT_S, lambda: started.printed[-4000:])
        yield started
    finally:
        started.process.send_signal(signal.SIGTERM)
        started.process.wait(DEMO_LIMIT_S)


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page in a browser of its own: `opened(color_scheme="dark")`, as Playwright's `new_context`.

    `opened(site, VIEWER)` has signed in there.
    """
    with contextlib.ExitStack() as contexts:

        def page(at: Site | Process | None = None, name: str = "", **options: Any) -> Any:
            if at:
                process = at.process if isinstance(at, Site) else at
                options["storage_state"] = process.cookies(browser, name)
            context = browser.new_context(**options)
            contexts.callback(context.close)
            return context.new_page()

        yield page
