"""One simulated broker of Kafka 0.7: it registers itself, and its partitions of each of its topics.

After kafka.server.KafkaZooKeeper of 0.7. There are no replicas and no controller: what a broker holds is
gone from ZooKeeper with the broker, and back with it.
"""

from __future__ import annotations

from collections.abc import Callable

from kazoo import exceptions

from zkdash.demo.kafka07.definitions import BrokerConfig07
from zkdash.demo.runtime import clock, event_loop, session
from zkdash.kafka import paths


class Broker07:
    """A broker process. `start` after `stop` is a new process with the same logs, and so the same topics."""

    def __init__(
        self,
        config: BrokerConfig07,
        address: str,
        *,
        loop: event_loop.EventLoop,
        time: clock.Clock,
        on_lost: Callable[[], None],
    ) -> None:
        self.config = config
        self.topics = dict(config.topics)
        self._address = address
        self._loop = loop
        self._time = time
        self._on_lost = on_lost
        self._session: session.Session | None = None
        self._crashed: session.Session | None = None

    @property
    def is_running(self) -> bool:
        return self._session is not None

    def start(self) -> None:
        """Connect, register the broker and then its topics. Raises NodeExistsError where the id is taken."""
        self._close_crashed()
        self._session = session.Session(self._address, loop=self._loop, on_lost=self._on_lost)
        self._session.start()
        for path in ("/brokers", paths.BROKER_IDS):
            self._session.create(path, None)
        path, config = paths.broker(self.config.id), self.config
        # creator:host:port, where the creator is the host and the start
        data = f"{config.host}-{self._time.wall_ms()}:{config.host}:{config.port}".encode()
        if not self._session.create(path, data, ephemeral=True):
            raise exceptions.NodeExistsError(path)
        for topic in self.topics:
            self._register(self._session, topic)

    def stop(self) -> None:
        """End the process: registration and topics go with its session."""
        self._close_crashed()
        stopped, self._session = self._session, None
        if stopped is not None:
            stopped.close()

    def crash(self, *, detected_after_s: float) -> None:
        """Stop acting now; the ephemerals go when ZooKeeper gives the session up.

        An expired session and a closed one end in the same transaction, so it is closed then.
        """
        self._close_crashed()
        self._crashed, self._session = self._session, None
        if self._crashed is not None:
            self._crashed.silence()
            self._loop.call_later(detected_after_s, self._close_crashed)

    def serve(self, topic: str, partitions: int) -> None:
        """Make the logs of a topic, as for the first message of it; one that does not run does so later."""
        self.topics[topic] = partitions
        if self._session is not None:
            self._register(self._session, topic)

    def _register(self, zookeeper: session.Session, topic: str) -> None:
        zookeeper.create(paths.TOPICS, None)
        zookeeper.create(paths.topic(topic), None)
        count = str(self.topics[topic]).encode()
        zookeeper.create(paths.partition_count(topic, self.config.id), count, ephemeral=True)

    def _close_crashed(self) -> None:
        """Close the session of a crash that ZooKeeper has not noticed yet."""
        crashed, self._crashed = self._crashed, None
        if crashed is not None:
            crashed.close()
