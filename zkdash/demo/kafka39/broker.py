"""One simulated broker: its socket, session and registration, and its part in electing the controller."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Protocol

from kazoo import exceptions

from zkdash.demo.kafka39 import config_changes, replica_fetchers, zk_data
from zkdash.demo.kafka39.controller import kafka_controller
from zkdash.demo.kafka39.definitions import BrokerConfig
from zkdash.demo.runtime import clock, event_loop, session
from zkdash.kafka import paths

# What the first broker of a cluster creates, in Kafka's order (kafka.zk.ZkData.PersistentZkPaths).
BASE_PATHS = (
    "/consumers",
    "/brokers",
    "/brokers/ids",
    "/brokers/topics",
    "/config",
    "/config/changes",
    "/admin",
    "/admin/delete_topics",
    "/brokers/seqid",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
    "/cluster",
)


class Socket(Protocol):
    """Where a broker can be reached while it runs."""

    def open(self) -> tuple[str, int]:
        """Listen, and return the host and the port to register."""

    def close(self) -> None:
        """Listen no more; nothing where it does not."""


class Broker:
    """A broker process. `start` after `stop` is a new process: a new session, a new registration.

    `socket` is open exactly while it runs; without one it registers what its configuration says.
    `on_vacancy` is called when /controller is gone: whoever sees it first lets all brokers try.
    """

    def __init__(
        self,
        config: BrokerConfig,
        address: str,
        *,
        loop: event_loop.EventLoop,
        time: clock.Clock,
        random: Random,
        cluster_id: str,
        socket: Socket | None,
        fetchers: replica_fetchers.ReplicaFetchers,
        on_vacancy: Callable[[], None],
        on_lost: Callable[[], None],
    ) -> None:
        self.config = config
        self.controller: kafka_controller.KafkaController | None = None
        self._address = address
        self._loop = loop
        self._time = time
        self._random = random
        self._cluster_id = cluster_id
        self._socket = socket
        self._fetchers = fetchers
        self._on_vacancy = on_vacancy
        self._on_lost = on_lost
        self._session: session.Session | None = None
        self._crashed: session.Session | None = None

    @property
    def is_running(self) -> bool:
        return self._session is not None

    @property
    def zookeeper(self) -> session.Session:
        """The broker's session. Raises RuntimeError while it does not run."""
        if self._session is None:
            message = f"broker {self.config.id} does not run"
            raise RuntimeError(message)
        return self._session

    def start(self) -> None:
        """Listen, connect, make the base paths, register. Raises NodeExistsError where the id is taken."""
        self._close_crashed()
        host, port = self._socket.open() if self._socket else (self.config.host, self.config.port)
        self._session = session.Session(self._address, loop=self._loop, on_lost=self._on_lost)
        self._session.start()
        for path in BASE_PATHS:
            self._session.create(path, None)
        self._session.create(paths.CLUSTER_ID, zk_data.cluster_id(self._cluster_id))
        self._register(host, port)
        config_changes.watch(self._session, self._time, self._fetchers.throttles.update)

    def stop(self) -> None:
        """End the process: whatever it was doing stops, and its ephemerals go with its session."""
        self._end()
        stopped, self._session = self._session, None
        if stopped is not None:
            stopped.close()

    def crash(self, *, detected_after_s: float) -> None:
        """Stop acting now; the ephemerals go when ZooKeeper gives the session up.

        An expired session and a closed one end in the same transaction, so it is closed then.
        """
        self._end()
        self._crashed, self._session = self._session, None
        if self._crashed is not None:
            self._crashed.silence()
            self._loop.call_later(detected_after_s, self._close_crashed)

    def _end(self) -> None:
        if self._socket:
            self._socket.close()
        self.resign()
        self._close_crashed()

    def _close_crashed(self) -> None:
        """Close the session of a crash that ZooKeeper has not noticed yet."""
        crashed, self._crashed = self._crashed, None
        if crashed is not None:
            crashed.close()

    def resign(self) -> None:
        if self.controller is not None:
            self.controller.resign()
            self.controller = None

    def elect(self) -> bool:
        """Try to become the controller; True for the one that did. Who fails is told when to try again."""
        zookeeper = self.zookeeper
        if zookeeper.get(paths.CONTROLLER, then=self._controller_changed) is not None:
            return False
        zookeeper.create(paths.CONTROLLER_EPOCH, b"0")
        read = zookeeper.get(paths.CONTROLLER_EPOCH)
        if read is None:
            return False
        epoch = int(read.data) + 1
        data = zk_data.controller(self.config.id, timestamp_ms=self._time.wall_ms())
        (failure,) = zookeeper.commit(
            [
                [
                    zookeeper.create_operation(paths.CONTROLLER, data, ephemeral=True),
                    zookeeper.set_operation(paths.CONTROLLER_EPOCH, str(epoch).encode(), read.version),
                ]
            ]
        )
        if failure is not None:
            return False
        self.resign()
        zookeeper.create(paths.FEATURE, zk_data.feature())
        self.controller = kafka_controller.KafkaController(
            zookeeper,
            loop=self._loop,
            random=self._random,
            epoch=epoch,
            epoch_version=read.version + 1,
            fetchers=self._fetchers,
            on_moved=self._controller_moved,
        )
        self.controller.start()
        return True

    def _controller_moved(self) -> None:
        self.resign()
        self._on_vacancy()

    def _controller_changed(self) -> None:
        """/controller came, went or changed hands; that this broker created it itself changes nothing."""
        read = self.zookeeper.get(paths.CONTROLLER, then=self._controller_changed)
        if read is None:
            self.resign()
            self._on_vacancy()
        elif json.loads(read.data)["brokerid"] != self.config.id:
            self.resign()

    def _register(self, host: str, port: int) -> None:
        """Create and set in one multi, as Kafka has done since 2.2: the registration's version is 1."""
        path = paths.broker(self.config.id)
        data = zk_data.broker(
            host=host,
            port=port,
            rack=self.config.rack,
            timestamp_ms=self._time.wall_ms(),
        )
        zookeeper = self.zookeeper
        (failure,) = zookeeper.commit(
            [
                [
                    zookeeper.create_operation(path, None, ephemeral=True),
                    zookeeper.set_operation(path, data, -1),
                ]
            ]
        )
        if failure is not None:
            raise exceptions.NodeExistsError(path) from failure.error
