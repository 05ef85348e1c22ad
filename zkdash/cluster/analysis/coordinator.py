"""Which broker keeps a group's offsets, should it keep them in Kafka: computed from ZooKeeper alone."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.consumers import coordinators
from zkdash.kafka.consumers.coordinators import OFFSETS_TOPIC
from zkdash.kafka.values import Assignment, PartitionState


class Coordinator(msgspec.Struct, frozen=True):
    """A group's partition of __consumer_offsets, of `count`, and the broker that leads it.

    What cannot be told is None, and `reason` says why. The coordinator moves with that leader: `replicas` may
    lead it, `successor` does so next if the broker stops now (None for nobody), `leader_epoch` counts how
    often it moved or was elected anew. Source: kafka.controller.Election (the first live replica in the ISR).
    """

    partition: int | None = None
    count: int | None = None
    broker: int | None = None
    reason: str | None = None
    replicas: tuple[int, ...] | None = None
    successor: int | None = None
    leader_epoch: int | None = None


def of_group(state: ClusterState, group: str) -> Coordinator:
    """The coordinator of a group, whether or not it keeps anything in Kafka."""
    topic = state.topics.get(OFFSETS_TOPIC)
    if topic is None:
        return Coordinator(reason=f"there is no topic {OFFSETS_TOPIC}: nobody keeps offsets in Kafka yet")
    if not isinstance(topic.assignment, Assignment) or not topic.assignment.partitions:
        return Coordinator(reason=f"the partitions of {OFFSETS_TOPIC} cannot be told")
    count = len(topic.assignment.partitions)
    partition = coordinators.partition_of(group, count)
    part = next((candidate for candidate in topic.partitions if candidate.id == partition), None)
    if part is None or not isinstance(part.state, PartitionState):
        return Coordinator(
            partition, count, reason=f"partition {partition} of {topic.name} has no state to be read"
        )
    leader, isr = part.state.leader, part.state.isr
    of_partition = Coordinator(partition, count, replicas=part.replicas, leader_epoch=part.state.leader_epoch)
    if leader < 0:
        return replace(of_partition, reason=f"partition {partition} of {topic.name} has no leader")
    able = (broker for broker in part.replicas or () if broker in isr and broker in state.brokers)
    successor = next((broker for broker in able if broker != leader), None)
    led = replace(of_partition, broker=leader, successor=successor)
    if leader not in state.brokers:
        return replace(led, reason=f"broker {leader} leads it and is not registered")
    return led
