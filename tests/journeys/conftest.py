"""What the journeys share: a small cluster in a real ZooKeeper, served by a real process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Chroot
from tests.serving import Serve, Served, served
from tests.world import World

__all__ = ["served"]


@pytest.fixture
def world(chroot: Chroot) -> Iterator[World]:
    """Three brokers, 1 the controller, and two topics led by all three."""
    made = World(chroot.client, chroot.address)
    for number in (1, 2, 3):
        made.broker(number, controller=number == 1)
    made.topic("orders", {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]})
    made.topic("payments", {0: [1, 2], 1: [2, 1]})
    yield made
    made.close()


@pytest.fixture
def site(world: World, chroot: Chroot, served: Serve) -> Served:
    """The world's cluster, served; its first load is over."""
    server = served(ZKDASH_ZOOKEEPER=chroot.address)
    server.wait_until_loaded()
    return server
