"""A ZooKeeper of these tests' own: its transaction logs, which they read, tell of nobody else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient

from tests.conftest import TICK_MS
from tests.zk import secured
from zkdash.demo.zookeeper.server import Server


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("faults"), tick_time_ms=TICK_MS)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def _root_client(zookeeper: Server) -> Iterator[KazooClient]:
    with secured.hands(zookeeper.address) as client:
        yield client
