"""What befalls any simulated cluster while somebody watches the demo: seeded, with long calm stretches.

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
NIGHT_EVERY: Span = (200.0, 300.0)
NIGHT_LASTS: Span = (50.0, 70.0)
# While partitions are moved few brokers die: a drain takes about as long as an outage, and shall end.
OUTAGE_WHILE_MOVING_CHANCE = 0.1
OUTAGE_LATER: Span = (10.0, 20.0)


class Incidents:
    """Incidents of a cluster, from `start` until it stops."""

    def __init__(self, cluster: base_cluster.Story) -> None:
        self.random = cluster.random("weather")
        self._story = cluster
        self._outages = 0

    def start(self) -> None:
        self.later(OUTAGE_FIRST, self._outage)
        self.later((30.0, 60.0), self._deploy)
        self.later((40.0, 80.0), self._hang)
        self.later((90.0, 150.0), self._night)

    def later(self, span: Span, incident: Callable[[], None]) -> None:
        """Let something happen at a moment of chance."""
        self._story.steps.after(self.random.uniform(*span), incident)

    def _outage(self) -> None:
        """A broker dies: stopped by somebody, or crashed. Seldom, and not at first, a second one follows."""
        if self._story.is_moving and self.random.random() >= OUTAGE_WHILE_MOVING_CHANCE:
            self.later(OUTAGE_LATER, self._outage)
            return
        self.later(OUTAGE_EVERY, self._outage)
        self._lose_broker()
        self._outages += 1
        if self._outages > 1 and self.random.random() < SECOND_OUTAGE_CHANCE:
            self.later((3.0, 10.0), self._lose_broker)

    def _lose_broker(self) -> None:
        running = [id_ for id_, broker in self._story.brokers.items() if broker.is_running]
        if len(running) < len(self._story.brokers) - 1:
            return
        lost = self.random.choice(running)
        if self.random.random() < 0.5:
            self._story.kill_broker(lost)
        else:
            self._story.crash_broker(lost, detected_after_s=DETECTION_S)
        self.later(OUTAGE_LASTS, lambda: self._story.revive_broker(lost))

    def _deploy(self) -> None:
        """The restless member of each group that has one is deployed anew."""
        self.later(DEPLOY_EVERY, self._deploy)
        for name in self._story.groups.restless():
            self.later(DEPLOY_LASTS, functools.partial(self._story.join, name))
            self._story.leave(name)

    def _night(self) -> None:
        """The groups that read now and then come, and leave when they are done."""
        self.later(NIGHT_EVERY, self._night)
        for members in self._story.groups.nightly().values():
            lasts = self.random.uniform(*NIGHT_LASTS)
            for name in members:
                self._story.join(name)
                self._story.steps.after(lasts, functools.partial(self._story.leave, name))

    def _hang(self) -> None:
        """The drowsy member of a group hangs for longer than ZooKeeper keeps its session."""
        self.later(HANG_EVERY, self._hang)
        drowsy = self._story.groups.drowsy()
        if drowsy:
            self._story.hang(self.random.choice(drowsy), seconds=self.random.uniform(*HANG_LASTS))
