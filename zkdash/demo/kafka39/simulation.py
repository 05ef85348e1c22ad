"""The simulated cluster of Kafka 3.9 as a whole: brokers, the controller among them, topics, consumer groups.

Everything it writes goes through ZooKeeper sessions of its participants and has the form that real brokers
of 3.9 and real consumers of 0.8 to 1.1 write. Its logs grow by the clock, and its consumers read them; where
its brokers listen, they tell of both.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from zkdash.demo import base_cluster
from zkdash.demo.kafka39 import admin_zk_client, broker, replica_fetchers, shop
from zkdash.demo.kafka39.consumer_progress import ConsumerProgress
from zkdash.demo.kafka39.controller import kafka_controller
from zkdash.demo.kafka39.definitions import BrokerConfig, ClusterDefinition, NewTopic
from zkdash.demo.kafka39.kafka_apis import KafkaApis
from zkdash.demo.kafka39.logs import Logs
from zkdash.demo.kafka39.metadata_cache import MetadataCache
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.protocol import socket_server
from zkdash.demo.runtime import clock, session


class Simulation(base_cluster.BaseCluster):
    """A cluster at `address` (host:port, with or without a chroot). The same seed makes the same happen.

    See `BaseCluster` for the arguments, and for what may be done to brokers and groups. With `listen` each
    broker answers at 127.0.0.1, on a port of its own, while it runs; without, nobody is at the addresses
    that the brokers register, which are those of the definition.
    """

    def __init__(
        self,
        address: str,
        *,
        seed: int = 1,
        definition: ClusterDefinition = shop.SHOP,
        time: clock.Clock | None = None,
        after_task: Callable[[], None] = lambda: None,
        listen: bool = False,
    ) -> None:
        time = time or clock.Clock()
        began = time.now()

        def now() -> float:
            return time.now() - began

        self.logs = Logs(seed, now, definition.topics)
        self.progress = ConsumerProgress(self.logs, definition.groups, serves=self._serves, now=now)
        self._metadata = MetadataCache()
        self._fetchers = replica_fetchers.ReplicaFetchers(self.logs.size)
        self._topics_with_logs: frozenset[str] = frozenset()
        self._after_task = after_task
        super().__init__(
            address,
            definition.groups,
            seed=seed,
            time=time,
            after_task=self._update_metadata,
            next_offset=self.progress.next_offset,
        )
        self._server_thread = socket_server.ServerThread() if listen else None
        self._address = address
        self._definition = definition
        self._elections = self.random("elections")
        cluster_id = base64.urlsafe_b64encode(self.random("cluster").randbytes(16)).rstrip(b"=").decode()
        self.brokers: dict[int, broker.Broker] = {
            config.id: self._new_broker(config, cluster_id) for config in definition.brokers
        }

    # --- from outside

    def start(self) -> None:
        if self._server_thread:
            self._server_thread.start()
        super().start()

    def stop(self) -> None:
        try:
            super().stop()
        finally:
            if self._server_thread:
                self._server_thread.stop()

    def fall_behind(self, topic: str, partition: int, replica: int, *, seconds: float) -> None:
        """A follower leaves the ISR, and comes back after `seconds`."""
        key = TopicPartition(topic, partition)
        self.loop.run(lambda: self._with_controller(lambda c: c.fall_behind(key, replica, seconds=seconds)))

    def create_topic(self, topic: NewTopic) -> None:
        """Make a topic, with logs that are empty yet."""

        def create() -> None:
            self.logs.add(topic)
            self._create_topics((topic,))

        self.loop.run(create)

    def delete_topic(self, name: str) -> None:
        self.loop.run(lambda: admin_zk_client.delete_topic(self._any_session(), name))

    @property
    def controller(self) -> kafka_controller.KafkaController | None:
        """The controller of whichever broker holds /controller; None while nobody does."""
        return next((b.controller for b in self.brokers.values() if b.controller is not None), None)

    @property
    def is_moving(self) -> bool:
        return self.controller is not None and any(
            assignment.reassigned for assignment in self.controller.context.topics.values()
        )

    # --- on the event loop

    def _start(self) -> None:
        for each in self.brokers.values():
            each.start()
        self._elect()
        self._create_topics(self._definition.topics)
        self._with_controller(kafka_controller.KafkaController.process_topic_change)
        self._update_metadata()
        self.groups.start()

    def _start_broker(self, broker_id: int) -> None:
        super()._start_broker(broker_id)
        self._elect()

    def _elect(self) -> None:
        """Let running brokers try to create /controller, in random order: the first wins."""
        running = [each for each in self.brokers.values() if each.is_running]
        for each in self._elections.sample(running, len(running)):
            each.elect()

    def _create_topics(self, topics: tuple[NewTopic, ...]) -> None:
        running = {each.config.id: each.config.rack for each in self.brokers.values() if each.is_running}
        hosts = {id_: rack for id_, rack in running.items() if id_ not in self._drained()} or running
        admin_zk_client.create_topics(self._any_session(), topics, racks=hosts, random=self._elections)

    def _drained(self) -> set[int]:
        """Brokers that an operator drains, or has drained: nobody puts a new topic there."""
        assignments = self.controller.context.topics.values() if self.controller is not None else ()
        used = {
            id_
            for assignment in assignments
            for partition in assignment.partitions
            for id_ in assignment.target_replicas(partition)
        }
        return set(self.brokers).difference(used) if used else set()

    def _any_session(self) -> session.Session:
        """The session of a broker that takes a client's request. Raises RuntimeError where none runs."""
        for each in self.brokers.values():
            if each.is_running:
                return each.zookeeper
        message = "no broker runs"
        raise RuntimeError(message)

    def _update_metadata(self) -> None:
        """After each task: what the controller decided is known to all brokers."""
        if self.controller is not None:
            self._metadata.update(self.controller.context.states)
            self._keep_logs(frozenset(self.controller.context.topics))
        self._after_task()

    def _keep_logs(self, topics: frozenset[str]) -> None:
        """Logs come and go with their topics; into one that an operator makes, nobody writes."""
        if topics != self._topics_with_logs:
            for name in self._topics_with_logs - topics:
                self.logs.remove(name)
            for name in topics - self._topics_with_logs:
                if not self.logs.has(name):
                    self.logs.add(NewTopic(name, 1, 1, per_s=0))
            self._topics_with_logs = topics

    def _serves(self, topic: str, partition: int) -> bool:
        """Whether the partition's leader runs."""
        leader = self._metadata.leader(topic, partition)
        return leader in self.brokers and self.brokers[leader].is_running

    def _with_controller(self, call: Callable[[kafka_controller.KafkaController], None]) -> None:
        if self.controller is not None:
            call(self.controller)

    def _new_broker(self, config: BrokerConfig, cluster_id: str) -> broker.Broker:
        made = broker.Broker(
            config,
            self._address,
            loop=self.loop,
            time=self.time,
            random=self.random(f"broker {config.id}"),
            cluster_id=cluster_id,
            socket=self._new_socket_server(config.id),
            fetchers=self._fetchers,
            on_vacancy=self._elect,
            on_lost=lambda: self._session_lost(config.id),
        )
        self._restart_when_lost(config.id, made.stop)
        return made

    def _new_socket_server(self, broker_id: int) -> socket_server.SocketServer | None:
        if self._server_thread is None:
            return None
        apis = KafkaApis(
            broker_id,
            metadata=self._metadata,
            logs=self.logs,
            progress=self.progress,
            wall_ms=self.time.wall_ms,
        )
        return socket_server.SocketServer(self._server_thread, apis.answer)
