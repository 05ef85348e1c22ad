"""What tests share: a real ZooKeeper, a chroot of one's own on it, a real browser."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from kazoo.client import KazooClient
from servestatic.middleware import ServeStaticMiddleware

from tests import chromium, full
from tests.databases import (
    _audit_can_be_flushed,
    _migrated,
    _transactions_of_tests_last,
    database,
    django_db_modify_db_settings,
    postgresql,
)
from tests.lab import zookeeper as releases
from tests.lab.ensemble import Ensemble
from zkdash.demo.zookeeper.server import Server

__all__ = [
    "_audit_can_be_flushed",
    "_migrated",
    "_transactions_of_tests_last",
    "database",
    "django_db_modify_db_settings",
    "postgresql",
]

TICK_MS = 200
LOOK_MS = 30_000  # how long `expect` waits: generous, on a machine that may be busy

# A busy machine is no reason to fail: what is tested by generated data is not its speed.
settings.register_profile(
    "zkdash",
    deadline=None,
    max_examples=full.pick(50, 100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("zkdash")

# The longest last, so that a plain `pytest` fails fast too. The browser is the very last: Playwright's
# loop runs on the main thread from then on, where neither asyncio.run nor async_to_sync would work.
_ORDER = ("zk", "spark", "kafka", "browser")


# JVMs of tests live for seconds or minutes, which C2's compiling is not worth; and the bytecode of jars that
# are released, and pinned by checksum, need not be verified at each start: a fifth of the CPU of Spark's.
_JVM = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)


def pytest_configure() -> None:
    """Every JVM of a test, or of a process of it, is started with these options; those of its command win."""
    os.environ["JDK_JAVA_OPTIONS"] = _JVM


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: max(
            (_ORDER.index(m.name) + 1 for m in item.iter_markers() if m.name in _ORDER), default=0
        )
    )


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_listed_once() -> Iterator[None]:
    """Clients of Django's share one list of what `collectstatic` gathered: making it takes 0.1 s."""
    listing = ServeStaticMiddleware.add_files_from_manifest
    listed: dict[str, Any] = {}

    def list_once(self: ServeStaticMiddleware) -> None:
        if not listed:
            listing(self)
            listed.update(self.files)
        self.files = listed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServeStaticMiddleware, "add_files_from_manifest", list_once)
        yield


class Chroot(NamedTuple):
    """A fresh directory of the run's ZooKeeper: `address` is "host:port/t1", `client` is chrooted there."""

    server: Server
    path: str
    client: KazooClient

    @property
    def address(self) -> str:
        return self.server.address + self.path


@pytest.fixture(scope="session")
def zookeeper_release(request: pytest.FixtureRequest) -> str:
    """The release of ZooKeeper that a test runs on: where none is asked for, the one of the product."""
    return str(getattr(request, "param", releases.BUNDLED))


@pytest.fixture(scope="session")
def _zookeepers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """The run's ZooKeeper of each release, started when it is first asked for."""
    started: dict[str, Server] = {}

    def get(release: str) -> Server:
        if release not in started:
            made = Server(
                tmp_path_factory.mktemp("zookeeper"),
                tick_time_ms=TICK_MS,
                classpath=releases.classpath(release),
            )
            made.start()
            started[release] = made
        return started[release]

    yield get
    for server in started.values():
        server.kill()


@pytest.fixture(scope="session")
def zookeeper(zookeeper_release: str, _zookeepers: Callable[[str], Server]) -> Server:
    """The run's ZooKeeper, for tests that leave it alone: others take `own_server`."""
    return _zookeepers(zookeeper_release)


@pytest.fixture(scope="session")
def _root_client(zookeeper: Server) -> Iterator[KazooClient]:
    with _Client(zookeeper.address) as client:
        yield client


_numbers = itertools.count(1)


@pytest.fixture
def chroot(zookeeper: Server, _root_client: KazooClient) -> Iterator[Chroot]:
    """A fresh chroot. What is left below it stays there until the server's end: no other test sees it."""
    with _fresh(zookeeper, _root_client) as made:
        yield made


@pytest.fixture(scope="module")
def shared_chroot(zookeeper: Server, _root_client: KazooClient) -> Iterator[Chroot]:
    """A chroot for the tests of a module that leave it as it is."""
    with _fresh(zookeeper, _root_client) as made:
        yield made


@contextlib.contextmanager
def _fresh(zookeeper: Server, root: KazooClient) -> Iterator[Chroot]:
    path = f"/t{next(_numbers)}"
    root.create(path)
    with _Client(zookeeper.address + path) as client:
        yield Chroot(zookeeper, path, client)


@pytest.fixture
def own_server(zookeeper_release: str, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts ZooKeeper servers of the test's own: `own_server(tick_time_ms=…)`, arguments as Server's."""
    started: list[Server] = []

    def start(data_dir: Path | None = None, **arguments: Any) -> Server:
        defaults = dict[str, Any](tick_time_ms=TICK_MS, classpath=releases.classpath(zookeeper_release))
        server = Server(data_dir or tmp_path / f"zookeeper-{len(started)}", **defaults | arguments)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.kill()  # its directory is nobody's from here on


@pytest.fixture
def ensemble(zookeeper_release: str, tmp_path: Path) -> Iterator[Ensemble]:
    """Three servers of the test's own."""
    classpath = releases.classpath(zookeeper_release)
    servers = Ensemble(tmp_path / "ensemble", tick_time_ms=TICK_MS, classpath=classpath)
    servers.start()
    yield servers
    servers.kill()


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The run's secured ZooKeeper (`secured.Locked`), for tests that write below a chroot of their own."""
    from tests.zk import secured

    with secured.locked(tmp_path_factory.mktemp("locked")) as server:
        yield server


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The run's Spark session, on two threads of this process's own JVM, our sources registered."""
    from tests.pipeline.clusters import INTERPRETED
    from zkdash.pipeline.spark import session

    options = {"spark.driver.memory": "768m", "spark.sql.shuffle.partitions": "2", **INTERPRETED}
    started = session.start(
        tmp_path_factory.mktemp("spark"), master="local[2]", options=options, progress=False
    )
    yield started
    session.stop(started)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real, headless Chromium."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=LOOK_MS)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright's loop lives on this thread, and Django would refuse its ORM here because of it.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        # In a full run journeys also come through a proxy, whose certificate is of the test's own authority.
        flags = [*chromium.FLAGS, *full.pick([], ["--ignore-certificate-errors"])]
        chrome = playwright.chromium.launch(
            executable_path=chromium.find(), args=flags, chromium_sandbox=os.geteuid() != 0
        )
        yield chrome
        chrome.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page in a context of its own: no cookies, no cache of another test."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


class _Client:
    """A started kazoo client, stopped and closed at the end."""

    def __init__(self, address: str) -> None:
        self._client = KazooClient(hosts=address, timeout=10.0)

    def __enter__(self) -> KazooClient:
        self._client.start(timeout=60.0)
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.stop()
        self._client.close()


@pytest.fixture(scope="session")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The run's bucket of a server of S3's API (`lab.s3.Bucket`): a test takes a `fresh` place in it."""
    from tests.lab import s3

    with s3.bucket(tmp_path_factory.mktemp("s3")) as made:
        yield made


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The run's HDFS (`lab.hadoop.Hadoop`): a test takes a `fresh` place in it."""
    from tests.lab import hadoop

    with hadoop.running(tmp_path_factory.mktemp("hadoop")) as made:
        yield made
