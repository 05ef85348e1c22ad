"""A KRaft controller that a cluster migrates to (KIP-866), and brokers of that cluster in KRaft mode."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from tests.lab.kafka import LOGGING, READY_LIMIT_S, STOP_LIMIT_S, Broker
from tests.lab.listening import free_port
from tests.waiting import wait_for
from zkdash.demo.runtime import child_process

CONTROLLER_ID = 3000
_STARTED = "Kafka Server started"
_HEAP_MB = 192
# Small enough for that heap.
_SMALL = {"log.cleaner.dedupe.buffer.size": str(8 << 20), "offsets.topic.replication.factor": "1"}


class Node:
    """A process in KRaft mode, of a broker's release, with these properties."""

    def __init__(self, broker: Broker, folder: Path, properties: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "kraft.log"
        self.config = folder / "kraft.properties"
        self._logging = folder / "kraft-log4j.properties"
        self._broker = broker
        self._properties = properties
        self._process: child_process.ChildProcess | None = None

    def start(self) -> None:
        """Start, and return once it says so."""
        self.configure()
        self._logging.write_text(LOGGING)
        self.log.write_bytes(b"")
        command = [
            *self._broker.java(heap_mb=_HEAP_MB, logging=self._logging),
            "kafka.Kafka",
            str(self.config),
        ]
        self._process = child_process.ChildProcess(command, log=self.log)
        wait_for(lambda: _STARTED in self.log.read_text(errors="replace"), READY_LIMIT_S, self._tail)

    def configure(self) -> None:
        """Write its properties."""
        self.config.write_text("".join(f"{key}={value}\n" for key, value in self._properties.items()))

    def stop(self) -> None:
        """Stop it and wait; one that does not run is fine."""
        if self._process:
            self._process.signal(signal.SIGTERM)
            try:
                self._process.wait(limit_s=STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self._process.signal(signal.SIGKILL)
                self._process.wait(limit_s=STOP_LIMIT_S)
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-25:])


class Controller(Node):
    """The one controller of the quorum, in migration: it waits at ZooKeeper for the cluster's brokers."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        port = free_port()
        self.quorum = {
            "controller.quorum.voters": f"{CONTROLLER_ID}@127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        }
        # Of brokers in ZooKeeper mode too, so that they register with it.
        self.migration = {
            **self.quorum,
            "zookeeper.metadata.migration.enable": "true",
            "inter.broker.protocol.version": ".".join(broker.release.version.split(".")[:2]),
        }
        super().__init__(
            broker,
            folder,
            {
                "process.roles": "controller",
                "node.id": str(CONTROLLER_ID),
                "listeners": f"CONTROLLER://127.0.0.1:{port}",
                "log.dirs": str(folder / "logs"),
                "zookeeper.connect": broker.zookeeper,
                **self.migration,
            },
        )

    def format(self, cluster_id: str) -> None:
        """Prepare its storage for the cluster, as kafka-storage does."""
        self.configure()
        self._broker.run("kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(self.config))

    def broker(self, broker: Broker, folder: Path) -> Node:
        """A broker of the cluster in KRaft mode, with its data and its address."""
        return Node(
            broker,
            folder,
            {
                "process.roles": "broker",
                "node.id": str(broker.id),
                "listeners": f"PLAINTEXT://{broker.address}",
                "log.dirs": str(broker.data_dir / "logs"),
                **_SMALL,
                **self.quorum,
            },
        )
