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
from zkdash.demo.kafka39.consumer_progress import Readers
from zkdash.demo.kafka39.controller import kafka_controller
from zkdash.demo.kafka39.definitions import BrokerSpec, Catalogue, TopicSpec
from zkdash.demo.kafka39.kafka_apis import Answers
from zkdash.demo.kafka39.logs import Logs
from zkdash.demo.kafka39.metadata_cache import Leaders
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.protocol import socket_server
from zkdash.demo.runtime import clock, session


class Simulation(base_cluster.Story):
    """A cluster at `address` (host:port, with or without a chroot). The same seed tells the same story.

    See `story.Story` for the arguments, and for what may be done to brokers and groups. With `listen` each
    broker answers at 127.0.0.1, on a port of its own, while it runs; without, nobody is at the addresses
    that the brokers register, which are those of the catalogue.
    """

    def __init__(
        self,
        address: str,
        *,
        seed: int = 1,
        contents: Catalogue = shop.SHOP,
        time: clock.Clock | None = None,
        after_step: Callable[[], None] = lambda: None,
        listen: bool = False,
    ) -> None:
        time = time or clock.Clock()
        began = time.now()

        def now() -> float:
            return time.now() - began

        self.logs = Logs(seed, now, contents.topics)
        self.readers = Readers(self.logs, contents.groups, serves=self._serves, now=now)
        self._leaders = Leaders()
        self._copies = replica_fetchers.Copies(self.logs.size)
        self._known: frozenset[str] = frozenset()
        self._after_step = after_step
        super().__init__(
            address,
            contents.groups,
            seed=seed,
            time=time,
            after_step=self._learn,
            pace=self.readers.pace,
        )
        self._listeners = socket_server.Loop() if listen else None
        self._address = address
        self._contents = contents
        self._elections = self.random("elections")
        cluster_id = base64.urlsafe_b64encode(self.random("cluster").randbytes(16)).rstrip(b"=").decode()
        self.brokers: dict[int, broker.Broker] = {
            spec.id: self._new_broker(spec, cluster_id) for spec in contents.brokers
        }

    # --- from outside

    def start(self) -> None:
        if self._listeners:
            self._listeners.start()
        super().start()

    def stop(self) -> None:
        try:
            super().stop()
        finally:
            if self._listeners:
                self._listeners.stop()

    def fall_behind(self, topic: str, partition: int, replica: int, *, seconds: float) -> None:
        """A follower leaves the ISR, and comes back after `seconds`."""
        key = TopicPartition(topic, partition)
        self.steps.call(lambda: self._with_controller(lambda c: c.fall_behind(key, replica, seconds=seconds)))

    def create_topic(self, spec: TopicSpec) -> None:
        """Make a topic, with logs that are empty yet."""

        def create() -> None:
            self.logs.add(spec)
            self._create_topics((spec,))

        self.steps.call(create)

    def delete_topic(self, name: str) -> None:
        self.steps.call(lambda: admin_zk_client.delete(self._any_session(), name))

    @property
    def term(self) -> kafka_controller.Controller | None:
        """The controller's term in office, of whichever broker holds it; None while nobody does."""
        return next((b.controller for b in self.brokers.values() if b.controller is not None), None)

    @property
    def is_moving(self) -> bool:
        return self.term is not None and any(plan.moving for plan in self.term.ledger.topics.values())

    # --- on the agenda

    def _start(self) -> None:
        for each in self.brokers.values():
            each.start()
        self._elect()
        self._create_topics(self._contents.topics)
        self._with_controller(kafka_controller.Controller.topics_changed)
        self._learn()
        self.groups.start()

    def _start_broker(self, broker_id: int) -> None:
        super()._start_broker(broker_id)
        self._elect()

    def _elect(self) -> None:
        """Let the living compete for /controller, in an order of chance: the first to create it wins."""
        running = [each for each in self.brokers.values() if each.is_running]
        for each in self._elections.sample(running, len(running)):
            each.compete()

    def _create_topics(self, specs: tuple[TopicSpec, ...]) -> None:
        running = {each.spec.id: each.spec.rack for each in self.brokers.values() if each.is_running}
        hosts = {id_: rack for id_, rack in running.items() if id_ not in self._empty()} or running
        admin_zk_client.create(self._any_session(), specs, racks=hosts, random=self._elections)

    def _empty(self) -> set[int]:
        """Brokers that an operator drains, or has drained: nobody puts a new topic there."""
        plans = self.term.ledger.topics.values() if self.term is not None else ()
        used = {id_ for plan in plans for partition in plan.partitions for id_ in plan.target(partition)}
        return set(self.brokers).difference(used) if used else set()

    def _any_session(self) -> session.Session:
        """The session of a broker that takes a client's request. Raises RuntimeError where none runs."""
        for each in self.brokers.values():
            if each.is_running:
                return each.zookeeper
        message = "no broker runs"
        raise RuntimeError(message)

    def _learn(self) -> None:
        """After each step: what the controller decided is known to all brokers."""
        if self.term is not None:
            self._leaders.learn(self.term.ledger.states)
            self._keep_logs(frozenset(self.term.ledger.topics))
        self._after_step()

    def _keep_logs(self, topics: frozenset[str]) -> None:
        """Logs come and go with their topics; into one that an operator makes, nobody writes."""
        if topics != self._known:
            for name in self._known - topics:
                self.logs.forget(name)
            for name in topics - self._known:
                if not self.logs.knows(name):
                    self.logs.add(TopicSpec(name, 1, 1, per_s=0))
            self._known = topics

    def _serves(self, topic: str, partition: int) -> bool:
        """Whether the partition's leader runs."""
        leader = self._leaders.of(topic, partition)
        return leader in self.brokers and self.brokers[leader].is_running

    def _with_controller(self, act: Callable[[kafka_controller.Controller], None]) -> None:
        if self.term is not None:
            act(self.term)

    def _new_broker(self, spec: BrokerSpec, cluster_id: str) -> broker.Broker:
        made = broker.Broker(
            spec,
            self._address,
            steps=self.steps,
            time=self.time,
            random=self.random(f"broker {spec.id}"),
            cluster_id=cluster_id,
            socket=self._new_listener(spec.id),
            copying=self._copies,
            on_vacancy=self._elect,
            on_lost=lambda: self._lost(spec.id),
        )
        self._await(spec.id, made.stop)
        return made

    def _new_listener(self, broker_id: int) -> socket_server.Listener | None:
        if self._listeners is None:
            return None
        answers = Answers(
            broker_id,
            leaders=self._leaders,
            logs=self.logs,
            readers=self.readers,
            wall_ms=self.time.wall_ms,
        )
        return socket_server.Listener(self._listeners, answers.answer)
