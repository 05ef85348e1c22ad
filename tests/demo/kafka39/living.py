"""A running simulation with a clock that a test loop, and what ZooKeeper holds of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.conftest import Chroot
from tests.demo.runtime.hearing import hear_all
from tests.demo.runtime.stepped_clock import SteppedClock
from tests.waiting import wait_for
from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.kafka39.definitions import BrokerConfig, ClusterDefinition, NewTopic
from zkdash.demo.kafka39.simulation import Simulation
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import Kind

SMALL = ClusterDefinition(
    brokers=tuple(BrokerConfig(n, f"kafka-{n}.test", 9092, f"rack-{n % 2}") for n in (1, 2, 3, 4)),
    topics=(
        NewTopic("orders", 8, 3, {"retention.ms": "1000"}),
        NewTopic("clicks", 4, 2),
        NewTopic("scratch", 4, 1),
    ),
    groups=(
        GroupConfig("billing", (2, 1), ("orders",)),
        GroupConfig("archive", (1,), white_list="cl.*|scr.*"),
        GroupConfig("gone", (1,), ("clicks",), abandoned=True),
    ),
)

Tree = dict[str, tuple[bytes | None, Any]]


class Cluster:
    """A running simulation with its clock, and what ZooKeeper holds of it."""

    def __init__(self, chroot: Chroot, definition: ClusterDefinition = SMALL) -> None:
        self.clock = SteppedClock()
        self.client: KazooClient = chroot.client
        self.simulation = Simulation(chroot.address, seed=7, definition=definition, time=self.clock)

    def tree(self, top: str = "") -> Tree:
        """Every znode below `top`; one that goes while it is read is left out."""
        try:
            data, stat = self.client.get(top or "/")
            found: Tree = {top or "/": (data, stat)}
            for name in self.client.get_children(top or "/"):
                found |= self.tree(f"{top}/{name}")
        except NoNodeError:
            return {}
        return found

    def json(self, path: str) -> Any:
        return json.loads(self.client.get(path)[0])

    def states(self) -> dict[tuple[str, int], dict[str, Any]]:
        """Every partition's state by topic and partition."""
        places = {path: paths.locate(path) for path in self.tree("/brokers/topics")}
        return {
            (place.name, int(place.key)): self.json(path)
            for path, place in places.items()
            if place.kind is Kind.STATE
        }

    def exists(self, path: str) -> bool:
        return self.client.exists(path) is not None

    def wait(self, condition: Callable[[], object], message: str = "") -> None:
        wait_for(condition, 60, lambda: (message, self.simulation.failures))

    def pass_time(self, seconds: int, until: Callable[[], object]) -> None:
        """Let the cluster live second by second until something holds, for at most `seconds`."""
        hear_all(self.simulation)
        for _ in range(seconds):
            self.clock.advance(1.0)
            self.simulation.loop.run(lambda: None)
            if until():
                return
        wait_for(until, 60, lambda: (f"{seconds} s of the cluster's time", self.simulation.failures))
