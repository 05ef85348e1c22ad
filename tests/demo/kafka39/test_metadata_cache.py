"""What the simulated brokers know of who leads what."""

from __future__ import annotations

from zkdash.demo.kafka39.controller.controller_context import VersionedState
from zkdash.demo.kafka39.metadata_cache import MetadataCache
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.kafka.values import PartitionState


def versioned(leader: int) -> VersionedState:
    return VersionedState(PartitionState(leader=leader, leader_epoch=0, controller_epoch=1, isr=(1,)), 0)


def test_nothing_is_known_before_a_controller_decided_and_then_its_newest_word() -> None:
    metadata = MetadataCache()
    assert (metadata.leader("orders", 0), metadata.partition_count("orders")) == (None, 0)
    metadata.update({TopicPartition("orders", 0): versioned(3), TopicPartition("orders", 1): versioned(-1)})
    assert [metadata.leader("orders", partition) for partition in (0, 1, 2)] == [3, -1, None]
    assert metadata.partition_count("orders") == 2
    metadata.update({TopicPartition("clicks", 0): versioned(1)})
    assert (metadata.leader("orders", 0), metadata.leader("clicks", 0)) == (None, 1)
