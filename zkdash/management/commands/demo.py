"""`manage.py demo`: a simulated cluster on an embedded ZooKeeper, and the dashboard for it, in one go.

The cluster is one of Kafka 3.9 with old consumers, or with `--layout 0.7` one of Kafka 0.7.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from zkdash import extras
from zkdash.demo.base_cluster import BaseCluster
from zkdash.demo.fault_injection import FaultInjection
from zkdash.demo.kafka07.fault_injection import FaultInjection07
from zkdash.demo.kafka07.simulation import Simulation07
from zkdash.demo.kafka39 import simulation
from zkdash.demo.kafka39.fault_injection import FaultInjection39
from zkdash.demo.zookeeper.server import NotServingError, Server
from zkdash.management import database, ending, serving, supervising
from zkdash.zk.config import ClusterConfig

CLUSTER = "demo"
CHROOTS = {"0.8+": "/shop", "0.7": "/feed"}  # by layout


class Command(BaseCommand):
    """Show the dashboard on a simulated cluster until SIGTERM or Ctrl-C."""

    help = "Start an embedded ZooKeeper, a simulated Kafka cluster on it, and the dashboard."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port to listen on; 0 takes a free one")
        parser.add_argument("--layout", choices=CHROOTS, default="0.8+", help="which Kafka to simulate")
        parser.add_argument("--seed", type=int, default=1, help="the same seed tells the same story")

    def handle(self, *_args: object, **options: object) -> None:
        if lacking := extras.missing("pipeline", "The demo"):
            raise CommandError(lacking)
        with contextlib.ExitStack() as stack:
            directory = stack.enter_context(_data_dir())
            database.use(directory)
            settings.ZKDASH_ANONYMOUS_READ = True
            server = stack.enter_context(_zookeeper(directory / "zookeeper"))
            layout = str(options["layout"])
            cluster, befalling = _cluster(
                layout, server.address + CHROOTS[layout], seed=int(str(options["seed"]))
            )
            # pages plan on what is configured
            config = ClusterConfig(
                CLUSTER,
                (("127.0.0.1", server.port),),
                CHROOTS[layout],
                transaction_logs=(str(server.data_dir),),
                snapshots=(str(server.data_dir),),
            )
            settings.ZKDASH_CLUSTERS = (config,)
            settings.ZKDASH_HISTORY = directory / "history"
            stack.callback(cluster.stop)
            cluster.start()
            environment = _environment(directory, config)
            serving.serve(
                "127.0.0.1",
                int(str(options["port"])),
                (config,),
                announce=lambda address, link: self._announce(address, link, befalling),
                invitee=CLUSTER,
                records=settings.ZKDASH_RECORD,
                pipeline=supervising.Pipeline(environment),
                environment=environment,
            )
        ending.finish()

    def _announce(self, address: str, link: str, befalling: FaultInjection) -> None:
        """Faults begin once somebody can see them, however long that took."""
        self.stdout.write(f"zkdash serves {address}")
        self.stdout.write(f"Everybody may look. To act on the cluster, sign in by this link, once: {link}")
        self.stdout.write("The cluster is simulated, its ZooKeeper is real. Ctrl-C ends all of it.")
        self.stdout.flush()
        befalling.start()


@contextlib.contextmanager
def _zookeeper(directory: Path) -> Iterator[Server]:
    """The demo's ZooKeeper, without which there is no demo: when it is gone, this process ends at once.

    Raises CommandError where it does not start.
    """
    server = Server(directory)
    try:
        server.start()
    except NotServingError as error:
        raise CommandError(str(error)) from error
    is_wanted = True

    def watch() -> None:
        server.wait_until_ended()
        if is_wanted:
            ending.fail(f"The demo's ZooKeeper has ended, and the demo with it; its log is {server.log}")

    threading.Thread(target=watch, name="demo-zookeeper", daemon=True).start()
    try:
        yield server
    finally:
        is_wanted = False
        server.stop()


def _cluster(layout: str, address: str, *, seed: int) -> tuple[BaseCluster, FaultInjection]:
    """A cluster of a layout, and what befalls it."""
    if layout == "0.7":
        old = Simulation07(address, seed=seed)
        return old, FaultInjection07(old)
    cluster = simulation.Simulation(address, seed=seed, listen=True)
    return cluster, FaultInjection39(cluster)


def _environment(directory: Path, cluster: ClusterConfig) -> dict[str, str]:
    """What makes another process work on the demo's cluster, and keep all it has below its directory."""
    file = directory / "clusters.toml"
    keys = {
        "zookeeper": cluster.address,
        "transaction_logs": cluster.transaction_logs,
        "snapshots": cluster.snapshots,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    file.write_text("\n".join([f"[clusters.{cluster.name}]", *lines, ""]))
    return {
        "ZKDASH_CONFIG": str(file.absolute()),
        "ZKDASH_ZOOKEEPER": "",
        "ZKDASH_DATA": str(directory.absolute()),
        "ZKDASH_HISTORY": "",
        "ZKDASH_DATABASE": "",
        "ZKDASH_PIPELINE_EVERY": "",
        "ZKDASH_ANONYMOUS_READ": "1",
        "ZKDASH_SECRET_KEY": settings.SECRET_KEY,
    }


@contextlib.contextmanager
def _data_dir() -> Iterator[Path]:
    """The demo's own directory, empty. Raises CommandError where another demo lives in it."""
    root = Path(settings.DATA_DIR)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(
            f"{root} cannot hold the demo: {error}. Set ZKDASH_DATA to a directory."
        ) from error
    with (root / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CommandError(
                f"Another demo runs in {root}. End it, or set ZKDASH_DATA to another directory for this one."
            ) from error
        shutil.rmtree(root / "demo", ignore_errors=True)
        yield root / "demo"
