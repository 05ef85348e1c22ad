"""A partition by its topic and number, and where ZooKeeper holds it."""

from __future__ import annotations

from typing import NamedTuple

from zkdash.kafka import paths


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    @property
    def path(self) -> str:
        return f"{paths.partitions(self.topic)}/{self.partition}"

    @property
    def state_path(self) -> str:
        return paths.state(self.topic, self.partition)


# The partition, and a broker that follows it (kafka.controller.PartitionAndReplica).
PartitionAndReplica = tuple[TopicPartition, int]
