"""Faults of a cluster of Kafka 0.7: those of any; and new topics."""

from __future__ import annotations

import functools

from zkdash.demo import fault_injection
from zkdash.demo.fault_injection import Span
from zkdash.demo.kafka07.simulation import Simulation07

TOPIC_EVERY: Span = (60.0, 150.0)
NEXT_BROKER_AFTER: Span = (2.0, 15.0)
MOST_TOPICS = 12  # 0.7 cannot delete a topic


class FaultInjection07(fault_injection.FaultInjection):
    """Faults of a simulation, from `start` until it stops."""

    def __init__(self, cluster: Simulation07) -> None:
        super().__init__(cluster)
        self._simulation = cluster
        self._made = 0

    def start(self) -> None:
        super().start()
        self.later((15.0, 40.0), self._make_topic)

    def _make_topic(self) -> None:
        """A topic's first message reaches one broker; the others serve it once messages reach them."""
        if self._made == MOST_TOPICS:
            return
        self.later(TOPIC_EVERY, self._make_topic)
        self._made += 1
        ids = list(self._simulation.brokers)
        for number, broker_id in enumerate(self.random.sample(ids, len(ids))):
            serve = functools.partial(self._simulation.serve, f"experiment-{self._made}", {broker_id: 2})
            if number:
                self.later(NEXT_BROKER_AFTER, serve)
            else:
                serve()
