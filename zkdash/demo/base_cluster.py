"""What every simulated cluster has: an event loop, random generators, brokers that die and return, groups.

By itself nothing happens to a cluster but through `kill_broker` and its like, which fault injection calls.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Protocol

from zkdash.demo.consumers import groups, offsets
from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.runtime import clock, event_loop, restarter


class Broker(Protocol):
    """A broker process of either layout."""

    @property
    def is_running(self) -> bool: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def crash(self, *, detected_after_s: float) -> None: ...


class BaseCluster(abc.ABC):
    """A cluster at `address` (host:port, with or without a chroot). The same seed makes the same happen.

    `time` and `after_task` are for tests: a clock that is stepped, and a call after each task of the loop.
    Methods may be called from any thread; each returns when what it says has been written to ZooKeeper.
    """

    brokers: Mapping[int, Broker]

    def __init__(
        self,
        address: str,
        group_configs: Iterable[GroupConfig],
        *,
        seed: int,
        time: clock.Clock | None,
        after_task: Callable[[], None],
        next_offset: Callable[[GroupConfig], offsets.NextOffset] | None = None,
    ) -> None:
        self.seed = seed
        self.time = time or clock.Clock()
        self.loop = event_loop.EventLoop(self.time, after_task=after_task)
        self.groups = groups.ConsumerGroups(
            group_configs,
            address,
            loop=self.loop,
            time=self.time,
            random=self.random,
            next_offset=next_offset,
        )
        self._restarters: dict[int, restarter.Restarter] = {}

    def random(self, name: str) -> Random:
        """A generator of its own for each participant, so that none changes what another draws."""
        return Random(f"{self.seed}/{name}")  # noqa: S311 - a simulation, not a secret

    def start(self) -> None:
        """Bring the cluster up: returns when every topic is served and every member has joined."""
        self.loop.start()
        self.loop.run(self._start, limit=120)

    def stop(self) -> None:
        """End every participant's session, so that no ephemeral is left; nothing where none was started."""
        if not self.loop.is_running:
            return
        self.loop.run(self._stop, limit=120)
        self.loop.stop()

    def kill_broker(self, broker_id: int) -> None:
        """End a broker without warning: its session is closed, and whoever watches finds out."""
        self.loop.run(self.brokers[broker_id].stop)

    def crash_broker(self, broker_id: int, *, detected_after_s: float) -> None:
        """A broker stops acting; ZooKeeper gives its session up after a while."""
        self.loop.run(lambda: self.brokers[broker_id].crash(detected_after_s=detected_after_s))

    def start_broker(self, broker_id: int) -> None:
        """Start a broker that was killed; it registers at once and catches up in its own time."""
        self.loop.run(lambda: self._start_broker(broker_id))

    def restart_broker(self, broker_id: int) -> None:
        """Start a broker that was killed, for as long as it takes ZooKeeper to accept it."""
        self.loop.call_soon(self._restarters[broker_id].start_now)

    def leave(self, member_name: str) -> None:
        """A member (`<group>-<n>`) leaves its group."""
        self.loop.run(self.groups.members[member_name].leave)

    def join(self, member_name: str) -> None:
        self.loop.run(self.groups.members[member_name].join)

    def hang(self, member_name: str, *, seconds: float) -> None:
        """A member does nothing for `seconds`: where that is long, its session expires meanwhile."""
        hang = self.groups.members[member_name].hang
        self.loop.run(lambda: hang(expires_after_s=groups.DETECTION_S, wakes_after_s=seconds))

    @property
    def is_moving(self) -> bool:
        """Whether replicas are moved between brokers now."""
        return False

    @property
    def failures(self) -> list[Exception]:
        """What tasks of the event loop raised; empty as long as ZooKeeper serves."""
        return self.loop.failures

    # --- on the event loop

    @abc.abstractmethod
    def _start(self) -> None:
        """Start the brokers, make the topics, let the groups join."""

    def _start_broker(self, broker_id: int) -> None:
        self.brokers[broker_id].start()

    def _stop(self) -> None:
        for each_restarter in self._restarters.values():
            each_restarter.close()
        self.groups.stop()
        for each in self.brokers.values():
            each.stop()
        self.loop.finish()

    def _session_lost(self, broker_id: int) -> None:
        """A broker's session is gone: it starts over."""
        self._restarters[broker_id].restart()

    def _restart_when_lost(self, broker_id: int, stop: event_loop.Task) -> None:
        """Let a broker that is made now be started over when its session is lost."""
        self._restarters[broker_id] = restarter.Restarter(
            self.loop, stop=stop, start=lambda: self._start_broker(broker_id)
        )
