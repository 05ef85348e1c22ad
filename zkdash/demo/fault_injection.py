"""Faults that are injected into any simulated cluster while the demo runs: seeded, with long calm stretches.

A broker dies and returns (as a rule one at a time), a consumer is deployed anew, another hangs, and groups
that read now and then come and go.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from zkdash.demo import base_cluster

Span = tuple[float, float]  # seconds, from and to

OUTAGE_FIRST: Span = (20.0, 30.0)
OUTAGE_EVERY: Span = (90.0, 180.0)
OUTAGE_LASTS: Span = (20.0, 45.0)
DETECTION_S = 6.0  # a crashed broker's session timeout
SECOND_OUTAGE_CHANCE = 0.15
DEPLOY_EVERY: Span = (50.0, 100.0)
DEPLOY_LASTS: Span = (10.0, 25.0)
HANG_EVERY: Span = (60.0, 150.0)
HANG_LASTS: Span = (9.0, 20.0)
PERIODIC_EVERY: Span = (200.0, 300.0)
PERIODIC_LASTS: Span = (50.0, 70.0)
# While partitions are moved few brokers die: a drain takes about as long as an outage, and shall end.
OUTAGE_WHILE_MOVING_CHANCE = 0.1
OUTAGE_LATER: Span = (10.0, 20.0)


class FaultInjection:
    """Faults of a cluster, from `start` until it stops."""

    def __init__(self, cluster: base_cluster.BaseCluster) -> None:
        self.random = cluster.random("weather")  # kept: the same seed injects the same faults
        self._cluster = cluster
        self._outages = 0

    def start(self) -> None:
        self.later(OUTAGE_FIRST, self._outage)
        self.later((30.0, 60.0), self._deploy)
        self.later((40.0, 80.0), self._hang)
        self.later((90.0, 150.0), self._run_periodic)

    def later(self, span: Span, fault: Callable[[], None]) -> None:
        """Inject a fault at a random moment of the span."""
        self._cluster.loop.call_later(self.random.uniform(*span), fault)

    def _outage(self) -> None:
        """A broker dies: stopped by somebody, or crashed. Seldom, and not at first, a second one follows."""
        if self._cluster.is_moving and self.random.random() >= OUTAGE_WHILE_MOVING_CHANCE:
            self.later(OUTAGE_LATER, self._outage)
            return
        self.later(OUTAGE_EVERY, self._outage)
        self._lose_broker()
        self._outages += 1
        if self._outages > 1 and self.random.random() < SECOND_OUTAGE_CHANCE:
            self.later((3.0, 10.0), self._lose_broker)

    def _lose_broker(self) -> None:
        running = [id_ for id_, broker in self._cluster.brokers.items() if broker.is_running]
        if len(running) < len(self._cluster.brokers) - 1:
            return
        lost = self.random.choice(running)
        if self.random.random() < 0.5:
            self._cluster.kill_broker(lost)
        else:
            self._cluster.crash_broker(lost, detected_after_s=DETECTION_S)
        self.later(OUTAGE_LASTS, lambda: self._cluster.restart_broker(lost))

    def _deploy(self) -> None:
        """One member of each group that is often deployed is deployed anew."""
        self.later(DEPLOY_EVERY, self._deploy)
        for name in self._cluster.groups.redeployed_members():
            self.later(DEPLOY_LASTS, functools.partial(self._cluster.join, name))
            self._cluster.leave(name)

    def _run_periodic(self) -> None:
        """The groups that read now and then come, and leave when they are done."""
        self.later(PERIODIC_EVERY, self._run_periodic)
        for members in self._cluster.groups.periodic_members().values():
            lasts = self.random.uniform(*PERIODIC_LASTS)
            for name in members:
                self._cluster.join(name)
                self._cluster.loop.call_later(lasts, functools.partial(self._cluster.leave, name))

    def _hang(self) -> None:
        """A member of a group hangs for longer than ZooKeeper keeps its session."""
        self.later(HANG_EVERY, self._hang)
        members = self._cluster.groups.hanging_members()
        if members:
            self._cluster.hang(self.random.choice(members), seconds=self.random.uniform(*HANG_LASTS))
