"""What the simulated brokers know of who leads what."""

from __future__ import annotations

from zkdash.demo.kafka39.controller.controller_context import Kept
from zkdash.demo.kafka39.metadata_cache import Leaders
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.kafka.values import PartitionState


def kept(leader: int) -> Kept:
    return Kept(PartitionState(leader=leader, leader_epoch=0, controller_epoch=1, isr=(1,)), 0)


def test_nothing_is_known_before_a_controller_decided_and_then_its_newest_word() -> None:
    leaders = Leaders()
    assert (leaders.of("orders", 0), leaders.partitions("orders")) == (None, 0)
    leaders.learn({TopicPartition("orders", 0): kept(3), TopicPartition("orders", 1): kept(-1)})
    assert [leaders.of("orders", partition) for partition in (0, 1, 2)] == [3, -1, None]
    assert leaders.partitions("orders") == 2
    leaders.learn({TopicPartition("clicks", 0): kept(1)})
    assert (leaders.of("orders", 0), leaders.of("clicks", 0)) == (None, 1)
