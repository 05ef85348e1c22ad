"""Who leads what, as the simulated brokers know it: the newest word of any controller.

After kafka.server.MetadataCache. Learned on the agenda's thread and read by any: one pointer to a value.
"""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.demo.kafka39.controller.controller_context import Kept
from zkdash.demo.kafka39.topic_partition import TopicPartition


class Leaders:
    """Leaders by topic and partition."""

    def __init__(self) -> None:
        self._topics: Mapping[str, Mapping[int, int]] = {}

    def learn(self, states: Mapping[TopicPartition, Kept]) -> None:
        """Take over what a controller holds now."""
        topics: dict[str, dict[int, int]] = {}
        for key, kept in states.items():
            topics.setdefault(key.topic, {})[key.partition] = kept.state.leader
        self._topics = topics

    def of(self, topic: str, partition: int) -> int | None:
        """The leader, -1 where there is none now; None for a partition that nobody knows."""
        return self._topics.get(topic, {}).get(partition)

    def partitions(self, topic: str) -> int:
        """How many partitions a topic has, 0 for one that nobody knows."""
        return len(self._topics.get(topic, {}))
