"""The simulated cluster as a whole: brokers, the controller among them, topics and consumer groups.

Everything it writes goes through ZooKeeper sessions of its participants and has the form that real brokers
of 3.9 and real consumers of 0.8 to 1.1 write. By itself it is calm: what happens to it is told by
`kill_broker` and its like, or by a `weather.Weather`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from random import Random

from zkdash.demo import agenda, broker, catalogue, clock, controller, creation, groups, revival, session
from zkdash.demo.ledger import TopicPartition
from zkdash.demo.specs import Catalogue, TopicSpec


class Simulation:
    """A cluster at `address` (host:port, with or without a chroot). The same seed tells the same story.

    `time` and `after_step` are for tests: a clock that is stepped, and a call after each step of the story.
    Methods may be called from any thread; each returns when what it says has been written to ZooKeeper.
    """

    def __init__(
        self,
        address: str,
        *,
        seed: int = 1,
        contents: Catalogue = catalogue.SHOP,
        time: clock.Clock | None = None,
        after_step: Callable[[], None] = lambda: None,
    ) -> None:
        self.seed = seed
        self.time = time or clock.Clock()
        self.steps = agenda.Agenda(self.time, after_step=after_step)
        self._address = address
        self._contents = contents
        self._elections = self.random("elections")
        cluster_id = base64.urlsafe_b64encode(self.random("cluster").randbytes(16)).rstrip(b"=").decode()
        self._revivals: dict[int, revival.Revival] = {}
        self.brokers = {spec.id: self._new_broker(spec.id, cluster_id) for spec in contents.brokers}
        self.groups = groups.Groups(
            contents.groups, address, steps=self.steps, time=self.time, random=self.random
        )

    def random(self, name: str) -> Random:
        """Chance of its own for each participant, so that one does not change another's story."""
        return Random(f"{self.seed}/{name}")  # noqa: S311 - a story, not a secret

    # --- from outside

    def start(self) -> None:
        """Bring the cluster up: returns when every topic has leaders and every member its partitions."""
        self.steps.start()
        self.steps.call(self._start, limit=120)

    def stop(self) -> None:
        """End every participant's session, so that no ephemeral is left; nothing where none was started."""
        if not self.steps.is_running:
            return
        self.steps.call(self._stop, limit=120)
        self.steps.stop()

    def kill_broker(self, broker_id: int) -> None:
        """End a broker without warning: its session is closed, and the controller finds out."""
        self.steps.call(self.brokers[broker_id].stop)

    def crash_broker(self, broker_id: int, *, detected_after_s: float) -> None:
        """A broker stops acting; ZooKeeper gives its session up after a while."""
        self.steps.call(lambda: self.brokers[broker_id].crash(detected_after_s=detected_after_s))

    def start_broker(self, broker_id: int) -> None:
        """Start a broker that was killed; it registers at once and catches up in its own time."""
        self.steps.call(lambda: self._start_broker(broker_id))

    def revive_broker(self, broker_id: int) -> None:
        """Start a broker that was killed, for as long as it takes ZooKeeper to accept it."""
        self.steps.post(self._revivals[broker_id].now)

    def fall_behind(self, topic: str, partition: int, replica: int, *, seconds: float) -> None:
        """A follower leaves the ISR, and comes back after `seconds`."""
        key = TopicPartition(topic, partition)
        self.steps.call(lambda: self._with_controller(lambda c: c.fall_behind(key, replica, seconds=seconds)))

    def create_topic(self, spec: TopicSpec) -> None:
        self.steps.call(lambda: self._create_topics((spec,)))

    def delete_topic(self, name: str) -> None:
        self.steps.call(lambda: creation.delete(self._any_session(), name))

    def leave(self, member_name: str) -> None:
        """A member (`<group>-<n>`) leaves its group."""
        self.steps.call(self.groups.members[member_name].leave)

    def join(self, member_name: str) -> None:
        self.steps.call(self.groups.members[member_name].join)

    def hang(self, member_name: str, *, seconds: float) -> None:
        """A member does nothing for `seconds`: where that is long, its session expires meanwhile."""
        hang = self.groups.members[member_name].hang
        self.steps.call(lambda: hang(expires_after_s=groups.DETECTION_S, wakes_after_s=seconds))

    @property
    def failures(self) -> list[Exception]:
        """What went wrong in the story itself; empty as long as ZooKeeper serves."""
        return self.steps.failures

    @property
    def term(self) -> controller.Controller | None:
        """The controller's term in office, of whichever broker holds it; None while nobody does."""
        return next((b.controller for b in self.brokers.values() if b.controller is not None), None)

    # --- on the agenda

    def _start(self) -> None:
        for each in self.brokers.values():
            each.start()
        self._elect()
        self._create_topics(self._contents.topics)
        self._with_controller(controller.Controller.topics_changed)
        self.groups.start()

    def _stop(self) -> None:
        for each_revival in self._revivals.values():
            each_revival.end()
        self.groups.stop()
        for each in self.brokers.values():
            each.stop()
        self.steps.finish()

    def _start_broker(self, broker_id: int) -> None:
        self.brokers[broker_id].start()
        self._elect()

    def _elect(self) -> None:
        """Let the living compete for /controller, in an order of chance: the first to create it wins."""
        running = [each for each in self.brokers.values() if each.is_running]
        for each in self._elections.sample(running, len(running)):
            each.compete()

    def _create_topics(self, specs: tuple[TopicSpec, ...]) -> None:
        running = {each.spec.id: each.spec.rack for each in self.brokers.values() if each.is_running}
        creation.create(self._any_session(), specs, racks=running, random=self._elections)

    def _any_session(self) -> session.Session:
        """The session of a broker that takes a client's request. Raises RuntimeError where none runs."""
        for each in self.brokers.values():
            if each.is_running:
                return each.zookeeper
        message = "no broker runs"
        raise RuntimeError(message)

    def _with_controller(self, act: Callable[[controller.Controller], None]) -> None:
        if self.term is not None:
            act(self.term)

    def _new_broker(self, broker_id: int, cluster_id: str) -> broker.Broker:
        spec = next(spec for spec in self._contents.brokers if spec.id == broker_id)
        made = broker.Broker(
            spec,
            self._address,
            steps=self.steps,
            time=self.time,
            random=self.random(f"broker {broker_id}"),
            cluster_id=cluster_id,
            on_vacancy=self._elect,
            on_lost=lambda: back.begin(),  # noqa: PLW0108 - made below
        )
        back = revival.Revival(self.steps, stop=made.stop, start=lambda: self._start_broker(broker_id))
        self._revivals[broker_id] = back
        return made
