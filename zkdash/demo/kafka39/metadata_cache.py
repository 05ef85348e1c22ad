"""Who leads what, as the simulated brokers know it: what a controller decided last.

After kafka.server.MetadataCache. Updated on the event loop's thread, read by any: one pointer to a value.
"""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.demo.kafka39.controller.controller_context import VersionedState
from zkdash.demo.kafka39.topic_partition import TopicPartition


class MetadataCache:
    """Leaders by topic and partition."""

    def __init__(self) -> None:
        self._leaders: Mapping[str, Mapping[int, int]] = {}

    def update(self, states: Mapping[TopicPartition, VersionedState]) -> None:
        """Replace everything by what a controller holds now."""
        leaders: dict[str, dict[int, int]] = {}
        for key, versioned in states.items():
            leaders.setdefault(key.topic, {})[key.partition] = versioned.state.leader
        self._leaders = leaders

    def leader(self, topic: str, partition: int) -> int | None:
        """The leader, -1 where there is none now; None for an unknown partition."""
        return self._leaders.get(topic, {}).get(partition)

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has, 0 for an unknown one."""
        return len(self._leaders.get(topic, {}))
