"""Clusters that few serving processes watch for all journeys: each test has one that nobody had before.

To start `manage.py serve` takes seconds, to watch one cluster more takes milliseconds. So tests share a
process, its database and the people in it; a cluster, the sessions of its brokers and a browser's context
are a test's own.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.utils import timezone
from kazoo.client import KazooClient

from tests.conftest import Chroot
from tests.databases import using
from tests.journeys import proxied as behind
from tests.serving import PAGE_EVERY_S, START_LIMIT_S, Served, starter
from tests.signing import PASSWORD, expect_signed_in, sign_in
from tests.waiting import wait_for
from tests.world import World
from zkdash import databases
from zkdash.access import rights, tokens
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.demo.zookeeper.server import Server

# To watch one costs a little all the time, to start a process costs much once: together they cost least so.
CLUSTERS = 9

# An administrator, and people with a role on every cluster; PASSWORD is everybody's.
ROOT, OPERATOR, APPROVER, VIEWER = "root", "olga", "anna", "vic"
_ROLES = {OPERATOR: Role.OPERATOR, APPROVER: Role.APPROVER, VIEWER: Role.VIEWER}

# Recorded clusters: one that lost a broker, the same one well again, an old one, one that somebody damaged.
BROKEN, WELL = "1.1.1-broker3-killed", "1.1.1-recovered"
OLD, BAD = "0.7.2-consumers", "1.1.1-hand-reassign-invalid-json"

# pytest-django's leave to use a database.
Unblock = Callable[[], contextlib.AbstractContextManager[None]]


def small(client: KazooClient, address: str) -> World:
    """Three brokers, 1 the controller, and two topics led by all three; in an empty chroot."""
    made = World(client, address)
    for number in (1, 2, 3):
        made.broker(number, controller=number == 1)
    made.topic("orders", {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]})
    made.topic("payments", {0: [1, 2], 1: [2, 1]})
    return made


class Process:
    """A process that serves clusters, with people in its database."""

    def __init__(self, served: Served, data: Path, unblock: Unblock) -> None:
        self.served, self.data = served, data
        self._unblock = unblock
        self._cookies: dict[str, Any] = {}
        for name, role in _ROLES.items():
            self.person(name, role)
        with self.rows():
            root = User.objects.create(username=ROOT, password=_hashed(), is_superuser=True, is_staff=True)
            held = rights.of(root, anonymous_reads=False)
            until = timezone.now() + timedelta(days=1)
            _, token = tokens.make(
                root, "tests", clusters="*", role=Role.VIEWER, expires_at=until, rights=held
            )
        self._authorized = {"Authorization": f"Bearer {token}"}

    def person(self, name: str, role: Role) -> None:
        """Make a user of that role on every cluster."""
        with self.rows():
            user = User.objects.create(username=name, password=_hashed())
            Grant.objects.create(user=user, role=role.value, clusters="*")

    def json(self, path: str) -> Any:
        """The JSON of a page, as ROOT's token shows it."""
        return self.served.json(path, **self._authorized)

    def wait_until_watched(self) -> None:
        """Wait until each cluster's first load is over: what a test writes then is a change that is told."""
        self.served.wait_until_all_loaded(self._authorized)

    @contextlib.contextmanager
    def rows(self) -> Iterator[None]:
        """Django's ORM uses the process's database inside of the block."""
        with self._unblock(), using(databases.sqlite(self.data)):
            yield

    def cookies(self, browser: Any, name: str) -> Any:
        """Those of a browser in which somebody has signed in, once for all who ask."""
        if name not in self._cookies:
            context = browser.new_context()
            page = context.new_page()
            page.goto(f"{self.served.address}/sign-in/")
            sign_in(page, name)
            expect_signed_in(page, name)
            self._cookies[name] = context.storage_state()
            context.close()
        return self._cookies[name]


class Site:
    """A cluster of a test's own, its chroot and its world; its process serves others beside it."""

    def __init__(self, process: Process, cluster: str, chroot: Chroot, world: World) -> None:
        self.process, self.served = process, process.served
        self.cluster, self.chroot, self.world = cluster, chroot, world
        self.address = self.served.address
        self.path = f"/c/{cluster}/"
        self.home = self.address + self.path
        self.history = process.data / "history" / cluster

    def wait_until_shown(self, path: str) -> None:
        """Wait until pages show this znode as it is now, and so all that was written before it."""
        zxid = self.chroot.client.get(path)[1].mzxid
        wait_for(
            lambda: self.process.json(f"{self.path}topics/")["zxid"] >= zxid,
            limit_s=START_LIMIT_S,
            message=self.served.printed,
            every_s=PAGE_EVERY_S,
        )


class Sites:
    """Gives out clusters, each once; where all of a process have been had, another process is started.

    `settings` are more of the processes' environment, `config` is more of their file. A process that is
    `proxied` has nginx before it, by TLS, below a path.
    """

    def __init__(
        self,
        below: Path,
        zookeeper: Server,
        unblock: Unblock,
        *,
        count: int = CLUSTERS,
        config: str = "",
        proxied: bool = False,
        **settings: str | Path,
    ) -> None:
        self._start = functools.partial(
            _Fleet,
            zookeeper=zookeeper,
            unblock=unblock,
            count=count,
            config=config,
            serve=behind.serving if proxied else _serving,
            settings=settings,
        )
        self._below = below
        self._fleets: list[_Fleet] = []

    @contextlib.contextmanager
    def site(self) -> Iterator[Site]:
        """A cluster with the world of `small`, which its pages show."""
        if not self._fleets or not self._fleets[-1].free:
            self._fleets.append(self._start(self._below / f"{self._below.name}-{len(self._fleets)}"))
        with self._fleets[-1].site() as found:
            yield found

    def close(self) -> None:
        """End the processes."""
        for fleet in self._fleets:
            fleet.close()


class _Fleet:
    """One process and its clusters, each in a chroot of its own below one of the process's name."""

    def __init__(
        self,
        below: Path,
        *,
        zookeeper: Server,
        unblock: Unblock,
        count: int,
        config: str,
        serve: Callable[..., contextlib.AbstractContextManager[Served]],
        settings: Mapping[str, str | Path],
    ) -> None:
        below.mkdir()
        self.free = [f"c{number}" for number in range(count, 0, -1)]
        self._taken = 0
        self._zookeeper, self._path = zookeeper, f"/{below.name}"
        address = zookeeper.address + self._path
        clusters = "".join(f'[clusters.{name}]\nzookeeper = "{address}/{name}"\n' for name in self.free)
        file, data = below / "zkdash.toml", below / "data"
        file.write_text(clusters + config)
        with contextlib.ExitStack() as opened:
            root = opened.enter_context(connected(zookeeper.address))
            for name in self.free:
                root.create(f"{self._path}/{name}", makepath=True)
            opened.callback(root.delete, self._path, recursive=True)
            served = opened.enter_context(serve(below, ZKDASH_CONFIG=file, ZKDASH_DATA=data, **settings))
            self._process = Process(served, data, unblock)
            self._process.wait_until_watched()
            self._opened = opened.pop_all()

    @contextlib.contextmanager
    def site(self) -> Iterator[Site]:
        cluster = self.free.pop()
        self._taken += 1
        path = f"{self._path}/{cluster}"
        address = self._zookeeper.address + path
        try:
            with connected(address) as client, contextlib.closing(small(client, address)) as world:
                found = Site(self._process, cluster, Chroot(self._zookeeper, path, client), world)
                found.wait_until_shown("/brokers/topics/payments/partitions/1/state")
                yield found
        finally:
            sys.stderr.write(self._process.served.printed())  # shown by pytest when the test failed
            self._taken -= 1
            if not self.free and not self._taken:
                self.close()

    def close(self) -> None:
        self._opened.close()


@contextlib.contextmanager
def _serving(below: Path, **settings: str | Path) -> Iterator[Served]:
    with starter(below) as start:
        yield start(**settings)


@contextlib.contextmanager
def connected(address: str) -> Iterator[KazooClient]:
    """A client that is stopped and closed afterwards."""
    client = KazooClient(hosts=address, timeout=10.0)
    client.start(timeout=60.0)
    try:
        yield client
    finally:
        client.stop()
        client.close()


@functools.cache
def _hashed() -> str:
    """Half a second of CPU, once for all."""
    return make_password(PASSWORD)
