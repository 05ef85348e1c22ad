"""One simulated broker of Kafka 0.7: it registers itself, and its partitions of each of its topics.

After kafka.server.KafkaZooKeeper of 0.7. There are no replicas and no controller: what a broker holds is
gone from ZooKeeper with the broker, and back with it.
"""

from __future__ import annotations

from collections.abc import Callable

from kazoo import exceptions

from zkdash.demo.kafka07.definitions import BrokerSpec07
from zkdash.demo.runtime import clock, event_loop, session
from zkdash.kafka import paths


class Broker07:
    """A broker process. `start` after `stop` is a new process with the same logs, and so the same topics."""

    def __init__(
        self,
        spec: BrokerSpec07,
        address: str,
        *,
        steps: event_loop.Agenda,
        time: clock.Clock,
        on_lost: Callable[[], None],
    ) -> None:
        self.spec = spec
        self.topics = dict(spec.topics)
        self._address = address
        self._steps = steps
        self._time = time
        self._on_lost = on_lost
        self._session: session.Session | None = None
        self._crashed: session.Session | None = None

    @property
    def is_running(self) -> bool:
        return self._session is not None

    def start(self) -> None:
        """Connect, register the broker and then its topics. Raises NodeExistsError where the id is taken."""
        self._bury()
        self._session = session.Session(self._address, steps=self._steps, on_lost=self._on_lost)
        self._session.start()
        for path in ("/brokers", paths.BROKER_IDS):
            self._session.create(path, None)
        path, spec = paths.broker(self.spec.id), self.spec
        # creator:host:port, where the creator is the host and the start
        data = f"{spec.host}-{self._time.wall_ms()}:{spec.host}:{spec.port}".encode()
        if not self._session.create(path, data, ephemeral=True):
            raise exceptions.NodeExistsError(path)
        for topic in self.topics:
            self._register(self._session, topic)

    def stop(self) -> None:
        """End the process: registration and topics go with its session."""
        self._bury()
        stopped, self._session = self._session, None
        if stopped is not None:
            stopped.close()

    def crash(self, *, detected_after_s: float) -> None:
        """Stop acting now; the ephemerals go when ZooKeeper gives the session up.

        An expired session and a closed one end in the same transaction, so it is closed then.
        """
        self._bury()
        self._crashed, self._session = self._session, None
        if self._crashed is not None:
            self._crashed.silence()
            self._steps.after(detected_after_s, self._bury)

    def serve(self, topic: str, partitions: int) -> None:
        """Make the logs of a topic, as for the first message of it; one that does not run does so later."""
        self.topics[topic] = partitions
        if self._session is not None:
            self._register(self._session, topic)

    def _register(self, zookeeper: session.Session, topic: str) -> None:
        zookeeper.create(paths.TOPICS, None)
        zookeeper.create(paths.topic(topic), None)
        count = str(self.topics[topic]).encode()
        zookeeper.create(paths.partition_count(topic, self.spec.id), count, ephemeral=True)

    def _bury(self) -> None:
        """Close the session of a crash that ZooKeeper has not noticed yet."""
        buried, self._crashed = self._crashed, None
        if buried is not None:
            buried.close()
