"""What every simulated cluster has: an agenda, chance, brokers that die and return, and consumer groups.

By itself a cluster is calm: what happens to it is told by `kill_broker` and its like, or by the weather.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Protocol

from zkdash.demo.consumers import groups, offsets
from zkdash.demo.consumers.configs import GroupSpec
from zkdash.demo.runtime import clock, event_loop, restarter


class Broker(Protocol):
    """A broker process of either layout."""

    @property
    def is_running(self) -> bool: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def crash(self, *, detected_after_s: float) -> None: ...


class Story(abc.ABC):
    """A cluster at `address` (host:port, with or without a chroot). The same seed tells the same story.

    `time` and `after_step` are for tests: a clock that is stepped, and a call after each step of the story.
    Methods may be called from any thread; each returns when what it says has been written to ZooKeeper.
    """

    brokers: Mapping[int, Broker]

    def __init__(
        self,
        address: str,
        group_specs: Iterable[GroupSpec],
        *,
        seed: int,
        time: clock.Clock | None,
        after_step: Callable[[], None],
        pace: Callable[[GroupSpec], offsets.Pace] | None = None,
    ) -> None:
        self.seed = seed
        self.time = time or clock.Clock()
        self.steps = event_loop.Agenda(self.time, after_step=after_step)
        self.groups = groups.Groups(
            group_specs, address, steps=self.steps, time=self.time, random=self.random, pace=pace
        )
        self._revivals: dict[int, restarter.Revival] = {}

    def random(self, name: str) -> Random:
        """Chance of its own for each participant, so that one does not change another's story."""
        return Random(f"{self.seed}/{name}")  # noqa: S311 - a story, not a secret

    def start(self) -> None:
        """Bring the cluster up: returns when every topic is served and every member has joined."""
        self.steps.start()
        self.steps.call(self._start, limit=120)

    def stop(self) -> None:
        """End every participant's session, so that no ephemeral is left; nothing where none was started."""
        if not self.steps.is_running:
            return
        self.steps.call(self._stop, limit=120)
        self.steps.stop()

    def kill_broker(self, broker_id: int) -> None:
        """End a broker without warning: its session is closed, and whoever watches finds out."""
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
    def is_moving(self) -> bool:
        """Whether replicas are moved between brokers now."""
        return False

    @property
    def failures(self) -> list[Exception]:
        """What went wrong in the story itself; empty as long as ZooKeeper serves."""
        return self.steps.failures

    # --- on the agenda

    @abc.abstractmethod
    def _start(self) -> None:
        """Start the brokers, make the topics, let the groups join."""

    def _start_broker(self, broker_id: int) -> None:
        self.brokers[broker_id].start()

    def _stop(self) -> None:
        for each_revival in self._revivals.values():
            each_revival.end()
        self.groups.stop()
        for each in self.brokers.values():
            each.stop()
        self.steps.finish()

    def _lost(self, broker_id: int) -> None:
        """A broker's session is gone: it starts over."""
        self._revivals[broker_id].begin()

    def _await(self, broker_id: int, stop: event_loop.Step) -> None:
        """Let a broker that is made now be started over when its session is lost."""
        self._revivals[broker_id] = restarter.Revival(
            self.steps, stop=stop, start=lambda: self._start_broker(broker_id)
        )
