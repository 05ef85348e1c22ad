"""What tests with real brokers share: an era's brokers, their tools, and a dashboard on the era's cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import TICK_MS
from tests.lab import zookeeper as zookeepers
from tests.lab.cluster import Lab
from tests.lab.releases import RELEASES
from tests.serving import Served, served, starter
from zkdash.demo.zookeeper.server import Server

__all__ = ["served"]

# Brokers of the oldest era have a ZooKeeper of their time, all others the one that the product brings.
OF_ITS_TIME = {"0.8.2.2": "3.4.14"}
_FIRST = "test_cells"

# What a scene asserts says its values too.
pytest.register_assert_rewrite(
    *(f"tests.kafka_live.scenes_{room}" for room in ("groups", "moves", "stuck", "topics"))
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of an era one after the other, those of its actions first: on a cluster that is still empty.

    Eras, and the tests of each, stay in the order in which they came.
    """
    places = [number for number, item in enumerate(items) if _era(item)]
    ours = [items[place] for place in places]
    eras = list(dict.fromkeys(map(_era, ours)))
    ours.sort(key=lambda item: (eras.index(_era(item)), item.path.stem != _FIRST))
    for place, item in zip(places, ours, strict=True):
        items[place] = item


def _era(item: pytest.Item) -> str | None:
    """The release on whose brokers a test of this folder runs; those of a browser come at the very end."""
    if not isinstance(item, pytest.Function) or not item.path.is_relative_to(Path(__file__).parent):
        return None
    if item.get_closest_marker("browser") or not hasattr(item, "callspec"):
        return None
    release = item.callspec.params.get("release")
    return None if release is None else str(release)


@pytest.fixture(scope="session")
def lab(zookeeper: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The run's brokers, started when a test asks for them."""
    folder = tmp_path_factory.mktemp("kafka")
    old: dict[str, Server] = {}
    with ExitStack() as servers:

        def address(release: str) -> str:
            version = OF_ITS_TIME.get(release)
            if version is None:
                return zookeeper.address
            if version not in old:
                server = Server(
                    folder / version, tick_time_ms=TICK_MS, classpath=zookeepers.classpath(version)
                )
                old[version] = servers.enter_context(server)
            return old[version].address

        lab = Lab(address, folder)
        yield lab
        lab.stop()


@pytest.fixture(scope="session", params=list(RELEASES))
def release(request: pytest.FixtureRequest) -> str:
    """Each release in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def dashboard(lab: Lab, release: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A dashboard on the era's cluster."""
    lab.brokers(release)
    with starter(tmp_path_factory.mktemp("dashboard")) as start:
        site = start(ZKDASH_ZOOKEEPER=lab.address(release))
        site.wait_until_loaded()
        yield site
