"""A simulated cluster that lived through all kinds of troubles, and its ZooKeeper's files meanwhile."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from tests.demo.kafka39.living import SMALL
from tests.demo.runtime.stepped_clock import SteppedClock
from tests.pipeline import writes
from tests.waiting import wait_for
from zkdash.demo.kafka39.definitions import NewTopic
from zkdash.demo.kafka39.simulation import Simulation
from zkdash.demo.zookeeper.server import Server
from zkdash.history.store.delta import Table
from zkdash.zk.config import ClusterConfig

CHROOT = "/shop"


class Lived(NamedTuple):
    """`stages` are copies of the server's files, each with more than the one before; the last has all."""

    stages: list[Path]
    killed: int
    controllers: list[int]


def cluster(files: Path) -> ClusterConfig:
    """The cluster, whose ZooKeeper's files lie there."""
    return ClusterConfig("shop", (("127.0.0.1", 2181),), CHROOT, transaction_logs=(str(files),))


def rows(root: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table of the cluster, in a fixed order."""
    table = Table(root / "shop" / name)
    found = [row for path in table.paths() for row in pq.read_table(path, partitioning=None).to_pylist()]
    return ordered(found)


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str([row[key] for key in sorted(row)]))


def live(directory: Path) -> Lived:
    """Brokers die and come back, the controller among them; members leave and join; topics come and go."""
    stages: list[Path] = []
    clock = SteppedClock()
    with Server(directory / "zookeeper", tick_time_ms=200, config={"snapCount": "250"}) as server:

        def keep() -> None:
            writes.last_zxid(server)
            stages.append(directory / f"stage-{len(stages)}")
            shutil.copytree(server.data_dir, stages[-1])

        simulation = Simulation(server.address + CHROOT, seed=7, definition=SMALL, time=clock)

        def settle(until: Callable[[], bool] = lambda: False, seconds: int = 15) -> None:
            for _ in range(seconds):
                clock.advance(1.0)
                simulation.loop.run(lambda: None)
                if until():
                    return

        simulation.start()
        try:
            settle()
            first = _controller(simulation)
            killed = next(number for number in simulation.brokers if number != first)
            keep()
            simulation.kill_broker(killed)
            settle()
            simulation.leave("billing-1")
            settle()
            simulation.kill_broker(first)
            wait_for(lambda: simulation.controller is not None)
            settle()
            second = _controller(simulation)
            simulation.start_broker(killed)
            settle(seconds=30)
            simulation.join("billing-1")
            settle()
            keep()
            simulation.create_topic(NewTopic("late", 3, 2))
            simulation.delete_topic("scratch")
            simulation.start_broker(first)
            settle(seconds=30)
            assert simulation.failures == []
        finally:
            simulation.stop()
        keep()
    return Lived(stages, killed, [first, second])


def _controller(simulation: Simulation) -> int:
    return next(number for number, broker in simulation.brokers.items() if broker.controller is not None)
