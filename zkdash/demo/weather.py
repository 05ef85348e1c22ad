"""What befalls the simulated cluster while somebody watches the demo: seeded, with long calm stretches.

A follower lags now and then, a broker dies and returns (as a rule one at a time), somebody makes a topic for
an afternoon, a consumer is redeployed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from zkdash.demo import simulation
from zkdash.demo.specs import TopicSpec

Span = tuple[float, float]  # seconds, from and to

LAG_EVERY: Span = (12.0, 40.0)
LAG_LASTS: Span = (8.0, 25.0)
OUTAGE_FIRST: Span = (20.0, 30.0)
OUTAGE_EVERY: Span = (90.0, 180.0)
OUTAGE_LASTS: Span = (20.0, 45.0)
DETECTION_S = 6.0  # a crashed broker's session timeout
SECOND_OUTAGE_CHANCE = 0.15
TOPIC_EVERY: Span = (70.0, 140.0)
TOPIC_LASTS: Span = (60.0, 120.0)
DEPLOY_EVERY: Span = (50.0, 100.0)
DEPLOY_LASTS: Span = (10.0, 25.0)
HANG_EVERY: Span = (60.0, 150.0)
HANG_LASTS: Span = (9.0, 20.0)


class Weather:
    """Incidents of a simulation, from `start` until the simulation stops."""

    def __init__(self, cluster: simulation.Simulation) -> None:
        self._cluster = cluster
        self._random = cluster.random("weather")
        self._made = 0
        self._outages = 0

    def start(self) -> None:
        self._in((6.0, 12.0), self._lag)
        self._in(OUTAGE_FIRST, self._outage)
        self._in((15.0, 40.0), self._make_topic)
        self._in((30.0, 60.0), self._deploy)
        self._in((40.0, 80.0), self._hang)

    def _in(self, span: Span, incident: Callable[[], None]) -> None:
        self._cluster.steps.after(self._random.uniform(*span), incident)

    def _lag(self) -> None:
        """A follower of a few partitions that share its broker falls behind."""
        self._in(LAG_EVERY, self._lag)
        term = self._cluster.term
        if term is None:
            return
        followers = sorted(
            (broker, key)
            for key, kept in term.ledger.states.items()
            for broker in kept.state.isr
            if broker != kept.state.leader
        )
        if not followers:
            return
        slow, first = self._random.choice(followers)
        sharing = [key for broker, key in followers if broker == slow and key.topic == first.topic]
        for key in sharing[: self._random.randint(1, 4)]:
            self._cluster.fall_behind(
                key.topic, key.partition, slow, seconds=self._random.uniform(*LAG_LASTS)
            )

    def _outage(self) -> None:
        """A broker dies: stopped by somebody, or crashed. Seldom, and not at first, a second one follows."""
        self._in(OUTAGE_EVERY, self._outage)
        self._lose_broker()
        self._outages += 1
        if self._outages > 1 and self._random.random() < SECOND_OUTAGE_CHANCE:
            self._in((3.0, 10.0), self._lose_broker)

    def _lose_broker(self) -> None:
        running = [id_ for id_, broker in self._cluster.brokers.items() if broker.is_running]
        if len(running) < len(self._cluster.brokers) - 1:
            return
        lost = self._random.choice(running)
        if self._random.random() < 0.5:
            self._cluster.kill_broker(lost)
        else:
            self._cluster.crash_broker(lost, detected_after_s=DETECTION_S)
        self._in(OUTAGE_LASTS, lambda: self._cluster.revive_broker(lost))

    def _make_topic(self) -> None:
        """Somebody makes a topic and deletes it when done."""
        self._in(TOPIC_EVERY, self._make_topic)
        self._made += 1
        name = f"adhoc.report-{self._made}"
        self._cluster.create_topic(TopicSpec(name, self._random.choice((3, 6, 12)), 2))
        self._in(TOPIC_LASTS, lambda: self._cluster.delete_topic(name))

    def _deploy(self) -> None:
        """The restless member of each group that has one is deployed anew."""
        self._in(DEPLOY_EVERY, self._deploy)
        for name in self._cluster.groups.restless():
            self._cluster.leave(name)
            self._in(DEPLOY_LASTS, functools.partial(self._cluster.join, name))

    def _hang(self) -> None:
        """The drowsy member of a group hangs for longer than ZooKeeper keeps its session."""
        self._in(HANG_EVERY, self._hang)
        drowsy = self._cluster.groups.drowsy()
        if drowsy:
            self._cluster.hang(self._random.choice(drowsy), seconds=self._random.uniform(*HANG_LASTS))
