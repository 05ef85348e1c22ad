"""Faults of a cluster of Kafka 3.9 besides those of any: lagging followers; and new topics."""

from __future__ import annotations

from zkdash.demo import fault_injection
from zkdash.demo.fault_injection import Span
from zkdash.demo.kafka39 import simulation, topic_partition
from zkdash.demo.kafka39.controller import controller_context
from zkdash.demo.kafka39.definitions import NewTopic

LAG_EVERY: Span = (12.0, 40.0)
LAG_LASTS: Span = (8.0, 25.0)
TOPIC_EVERY: Span = (70.0, 140.0)
TOPIC_LASTS: Span = (60.0, 120.0)


class FaultInjection39(fault_injection.FaultInjection):
    """Faults of a simulation, from `start` until it stops."""

    def __init__(self, cluster: simulation.Simulation) -> None:
        super().__init__(cluster)
        self._simulation = cluster
        self._made = 0

    def start(self) -> None:
        super().start()
        self.later((6.0, 12.0), self._lag)
        self.later((15.0, 40.0), self._make_topic)

    def _lag(self) -> None:
        """A follower of a few partitions that share its broker falls behind."""
        self.later(LAG_EVERY, self._lag)
        controller = self._simulation.controller
        if controller is None:
            return
        followers = sorted(
            (broker, key)
            for key, versioned in controller.context.states.items()
            for broker in versioned.state.isr
            if broker != versioned.state.leader and not _is_moved(key, controller.context)
        )
        if not followers:
            return
        slow, first = self.random.choice(followers)
        sharing = [key for broker, key in followers if broker == slow and key.topic == first.topic]
        for key in sharing[: self.random.randint(1, 4)]:
            self._simulation.fall_behind(
                key.topic, key.partition, slow, seconds=self.random.uniform(*LAG_LASTS)
            )

    def _make_topic(self) -> None:
        """Somebody makes a topic and deletes it when done."""
        self.later(TOPIC_EVERY, self._make_topic)
        self._made += 1
        name = f"adhoc.report-{self._made}"
        self._simulation.create_topic(NewTopic(name, self.random.choice((3, 6, 12)), 2))
        self.later(TOPIC_LASTS, lambda: self._simulation.delete_topic(name))


def _is_moved(key: topic_partition.TopicPartition, context: controller_context.ControllerContext) -> bool:
    """Whether an operator waits for the partition's followers."""
    return key.topic in context.topics and key.partition in context.topics[key.topic].reassigned
