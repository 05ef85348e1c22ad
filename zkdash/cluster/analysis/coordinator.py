"""Which broker keeps a group's offsets, should it keep them in Kafka: computed from ZooKeeper alone."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.kafka.consumers import coordinators
from zkdash.kafka.consumers.coordinators import OFFSETS_TOPIC
from zkdash.kafka.values import Assignment, PartitionState


class Coordinator(msgspec.Struct, frozen=True):
    """A group's partition of __consumer_offsets, of `count`, and the broker that leads it.

    What cannot be told is None, and `reason` says why.
    """

    partition: int | None = None
    count: int | None = None
    broker: int | None = None
    reason: str | None = None


def of_group(state: ClusterState, group: str) -> Coordinator:
    """The coordinator of a group, whether or not it keeps anything in Kafka."""
    topic = state.topics.get(OFFSETS_TOPIC)
    if topic is None:
        return Coordinator(reason=f"there is no topic {OFFSETS_TOPIC}: nobody keeps offsets in Kafka yet")
    if not isinstance(topic.assignment, Assignment) or not topic.assignment.partitions:
        return Coordinator(reason=f"the partitions of {OFFSETS_TOPIC} cannot be told")
    count = len(topic.assignment.partitions)
    partition = coordinators.partition_of(group, count)
    leader = _leader(topic, partition)
    if isinstance(leader, str):
        return Coordinator(partition, count, reason=leader)
    if leader not in state.brokers:
        return Coordinator(partition, count, leader, f"broker {leader} leads it and is not registered")
    return Coordinator(partition, count, leader)


def _leader(topic: Topic, partition: int) -> int | str:
    """The broker that leads a partition, or a sentence why that cannot be told."""
    part = next((candidate for candidate in topic.partitions if candidate.id == partition), None)
    if part is None or not isinstance(part.state, PartitionState):
        return f"partition {partition} of {topic.name} has no state to be read"
    if part.state.leader < 0:
        return f"partition {partition} of {topic.name} has no leader"
    return part.state.leader
