"""A real cluster of three brokers of one era, on which actions are carried out as the product does it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.lab import cluster, tools
from tests.lab.kafka import Broker
from tests.lab.releases import RELEASES
from tests.lab.topics import Described
from tests.waiting import wait_for
from zkdash.actions.actor import Actor
from zkdash.actions.execution import worker
from zkdash.actions.models import Action
from zkdash.actions.queue import planning, queue
from zkdash.actions.states import State
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Plan
from zkdash.kafka import paths
from zkdash.zk import config

LIMIT_S = 180.0
# The last release that has old consumers, and the tools for their groups: used where an era has none.
LAST_OLD = "1.1.1"
WHO = Actor("operator")
POLL_S = 0.05
# How often a tool, the queue or all topics are looked at.
LOOK_S = 0.03


class Refused(Exception):  # noqa: N818 - an answer of the planner
    """The plan has refusals; the text is the first."""


class Begun(NamedTuple):
    """An action in the queue: its number, and the plan that was proposed."""

    id: int
    plan: Plan


class Survey(NamedTuple):
    """What Kafka's own topic tool tells of all topics at one moment, and when it was told."""

    topics: Mapping[str, Mapping[int, Described]]
    controller_epoch: int


class Stage:
    """The brokers of an era, what zkdash does to their cluster, and what their tools say of it.

    A context: a worker of the product carries out what is queued, until it ends.
    """

    def __init__(
        self, release: str, address: str, brokers: list[Broker], client: KazooClient, folder: Path
    ) -> None:
        self.release = RELEASES[release]
        self.brokers = brokers
        self.client = client
        self.folder = folder
        servers, chroot = config.parse_address(address)
        self._config = config.ClusterConfig(f"cells-{release}", servers, chroot)
        self._address = address
        self._worker = worker.Worker([self._config], owner=worker.own_name(), poll_s=POLL_S)
        self.survey = Survey({}, 0)
        # The offset tool of 0.8 asks there for ever where it is absent.
        if not (self.release.has_listeners or self.exists("/brokers/topics/__consumer_offsets")):
            self.topic("__consumer_offsets", [[1, 2]] * 4)

    def __enter__(self) -> Self:
        self._worker.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._worker.stop()

    # --- what zkdash does

    def act(self, intent: Intent) -> Plan:
        """Carry out an intent to its end. Raises Refused."""
        begun = self.begin(intent)
        self.finish(begun)
        return begun.plan

    def begin(self, intent: Intent) -> Begun:
        """Plan, propose and submit an intent; the worker does the rest. Raises Refused."""
        plan = planning.plan(self._config, intent)
        if plan.refusals:
            raise Refused(plan.refusals[0])
        action = queue.propose(self._config.name, intent, plan, WHO)
        queue.submit(action.id, WHO)
        return Begun(action.id, plan)

    def finish(self, begun: Begun) -> None:
        """Wait until the action is done."""
        self._ended(begun, State.DONE)

    def stop(self, begun: Begun) -> None:
        """Stop an action whose end does not come, as an operator would."""
        queue.stop(begun.id, WHO)
        self._ended(begun, State.STOPPED)

    def _ended(self, begun: Begun, wanted: State) -> None:
        def now() -> Action:
            return Action.objects.get(id=begun.id)

        try:
            wait_for(
                lambda: State(now().state).has_ended,
                LIMIT_S,
                lambda: (now().state, now().result),
                every_s=LOOK_S,
            )
        except AssertionError:
            queue.stop(begun.id, WHO)  # so that the next may begin
            raise
        assert now().state == wanted, now().result

    # --- what others do, and what is there

    @property
    def first(self) -> Broker:
        """The broker that tools talk to; it is never killed."""
        return self.brokers[0]

    @property
    def last(self) -> Broker:
        """The broker that dies."""
        return self.brokers[-1]

    @property
    def old(self) -> Broker:
        """Whom to run the tools of old consumers on: the classes of the last release that has them."""
        if self.release.has_old_consumers:
            return self.first
        self.folder.mkdir(parents=True, exist_ok=True)
        return Broker(
            LAST_OLD,
            self._address,
            id=0,
            data_dir=self.folder,
            port=self.first.port,
            mains=self.first.mains,
        )

    def topic(self, name: str, lists: Sequence[Sequence[int]], *, messages: int = 0, size: int = 0) -> str:
        """A topic with these replicas, its partitions led; `messages` are sent to it."""
        document = {"version": 1, "partitions": dict(enumerate(lists))}
        self.write(f"/config/topics/{name}", {"version": 1, "config": {}})
        self.write(f"/brokers/topics/{name}", document)
        wait_for(lambda: all(self.leader(name, n) in lists[n] for n in range(len(lists))), LIMIT_S)
        if messages:
            tools.produce(self.first, name, messages, size=size)
        return name

    def write(self, path: str, document: object) -> None:
        """Create a znode as somebody else would; bytes as they are, all else as JSON."""
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.client.create(path, data)

    def exists(self, path: str) -> bool:
        return self.client.exists(path) is not None

    def json(self, path: str) -> Any:
        """A znode's JSON; None where it is absent."""
        try:
            return json.loads(self.client.get(path)[0])
        except NoNodeError:
            return None

    def leader(self, topic: str, partition: int) -> int | None:
        state: dict[str, Any] | None = self.json(f"/brokers/topics/{topic}/partitions/{partition}/state")
        return state["leader"] if state else None

    def replicas(self, topic: str, partition: int = 0) -> list[int]:
        return list(self.json(f"/brokers/topics/{topic}")["partitions"][str(partition)])

    def gone(self, path: str) -> None:
        """Wait until a znode is no more."""
        wait_for(lambda: not self.exists(path), LIMIT_S, path)

    def controller(self) -> Broker:
        """The broker that is the controller."""
        number: int = wait_for(lambda: self.json(paths.CONTROLLER), LIMIT_S)["brokerid"]
        return self.brokers[number - 1]

    def restart(self, broker: Broker) -> None:
        """Stop a broker cleanly and start it; return when it is in sync again."""
        broker.stop()
        self.start(broker)

    def start(self, broker: Broker) -> None:
        """Start a broker; return when it is in sync again."""
        broker.start()
        self.settle()
        self.look()

    def clear(self) -> None:
        """Delete every topic that was made here, and wait until they are gone."""
        self.delete(set(self.client.get_children(paths.TOPICS)) - {cluster.PROBE, "__consumer_offsets"})

    def delete(self, topics: set[str]) -> None:
        """Delete topics as somebody else would, and wait until they are gone."""
        for name in topics:
            if not self.exists(paths.deletion(name)):
                self.write(paths.deletion(name), b"")
        wait_for(
            lambda: not topics.intersection(self.client.get_children(paths.TOPICS)),
            LIMIT_S,
            lambda: topics.intersection(self.client.get_children(paths.TOPICS)),
        )

    @contextmanager
    def unheard(self, path: str, document: object) -> Iterator[None]:
        """Ask something of the controller that nobody hears for a while: all brokers are frozen."""
        for broker in self.brokers:
            broker.pause()
        try:
            self.write(path, document)
            yield
        finally:
            for broker in self.brokers:
                broker.resume()
            self.gone(path)
            self.settle()

    def settle(self) -> None:
        """Wait until the brokers that live know each other, as the controller does."""
        cluster.settle(self.client, self.brokers)

    def led_by(self, topic: str, leader: int) -> None:
        """Wait until Kafka's own topic tool says that a broker leads the topic's first partition."""
        wait_for(lambda: self.first.describe_topic(topic)[0].leader == leader, LIMIT_S, every_s=LOOK_S)

    def look(self) -> None:
        """Ask Kafka's own topic tool about all topics, once every replica that can be is in sync."""
        live = {broker.id for broker in self.brokers if broker.alive}
        wait_for(
            lambda: all(isr >= live & replicas for isr, replicas in self._in_sync()),
            LIMIT_S,
            lambda: list(self._in_sync()),
            every_s=LOOK_S,
        )

        def settled() -> bool:
            topics = self.first.describe_topics()
            epoch = int(self.client.get(paths.CONTROLLER_EPOCH)[0])
            self.survey = Survey(topics, epoch)
            return all(
                set(one.isr) >= live.intersection(one.replicas)
                for lists in topics.values()
                for one in lists.values()
            )

        began = time.monotonic()
        wait_for(settled, LIMIT_S, lambda: (time.monotonic() - began, self.survey), every_s=LOOK_S)

    def _in_sync(self) -> Iterator[tuple[set[int], set[int]]]:
        """The replicas in sync and the replicas, of each partition that has a state."""
        for topic in self.client.get_children(paths.TOPICS):
            assignment = self.json(f"/brokers/topics/{topic}") or {"partitions": {}}
            for number, replicas in assignment["partitions"].items():
                if state := self.json(f"/brokers/topics/{topic}/partitions/{number}/state"):
                    yield set(state["isr"]), set(replicas)

    def told(self, topic: str) -> dict[int, tuple[int, ...]]:
        """The replicas by partition as the tool told them, all in sync and led by one of them."""
        found = self.survey.topics[topic]
        for one in found.values():
            assert sorted(one.isr) == sorted(one.replicas), (topic, one)
            assert one.leader in one.replicas
        return {number: one.replicas for number, one in found.items()}

    def messages(self, topic: str) -> int:
        """How many messages the topic's leaders hold, as the offset tool tells."""
        ends = tools.log_offsets(self.first, topic, -1)
        return sum(ends.values()) - sum(tools.log_offsets(self.first, topic, -2).values())
