"""Where a group's offsets are kept in Kafka: the partition of __consumer_offsets, whose leader coordinates.

Source: kafka.server.OffsetManager.partitionFor (0.8.2), kafka.coordinator.group.GroupMetadataManager
.partitionFor (to 3.9), both `Utils.abs(group.hashCode) % partitions`, alike in all of them.
"""

from __future__ import annotations

from zkdash.kafka.strings import java_hash

OFFSETS_TOPIC = "__consumer_offsets"

_SMALLEST = -(1 << 31)


def partition_of(group: str, partitions: int) -> int:
    """The partition of __consumer_offsets that keeps a group, of so many (at least one)."""
    code = java_hash(group)
    return 0 if code == _SMALLEST else abs(code) % partitions
