"""The coordinator of a group, from ZooKeeper alone."""

from __future__ import annotations

from tests.cluster import small
from zkdash.cluster.analysis import coordinator
from zkdash.cluster.analysis.coordinator import Coordinator


def _offsets_topic(count: int = 50) -> small.Tree:
    return small.topic("__consumer_offsets", {number: [number % 3 + 1] for number in range(count)})


def test_it_is_the_leader_of_the_groups_partition() -> None:
    state = small.built(*map(small.broker, (1, 2, 3)), _offsets_topic())
    assert coordinator.of_group(state, "test") == Coordinator(48, 50, broker=1, replicas=(1,), leader_epoch=0)
    assert coordinator.of_group(state, "my-group").partition == 12


def test_it_moves_with_the_partition_to_the_first_replica_that_is_live_and_in_sync() -> None:
    topic = small.topic("__consumer_offsets", {0: [2, 4, 1, 3]})
    brokers = [*map(small.broker, (1, 2, 3))]
    state = small.built(*brokers, topic, small.state("__consumer_offsets", 0, 2, [3, 2, 1, 4]))
    assert coordinator.of_group(state, "test").successor == 1
    alone = small.built(*brokers, topic, small.state("__consumer_offsets", 0, 2, [2, 4]))
    assert coordinator.of_group(alone, "test").successor is None


def test_the_real_number_of_partitions_counts() -> None:
    state = small.built(*map(small.broker, (1, 2, 3)), _offsets_topic(4))
    assert coordinator.of_group(state, "test").count == 4


def test_a_leader_that_is_not_registered_is_named_all_the_same() -> None:
    found = coordinator.of_group(small.built(small.broker(2), _offsets_topic()), "test")
    assert (found.broker, found.reason) == (1, "broker 1 leads it and is not registered")


def test_what_cannot_be_told_says_why() -> None:
    assert "no topic" in str(coordinator.of_group(small.built(), "test").reason)
    bare = small.built(small.assignment("__consumer_offsets", {0: [1]}))
    assert "no state" in str(coordinator.of_group(bare, "test").reason)
    offline = small.built(_offsets_topic(1), small.state("__consumer_offsets", 0, -1, [1]))
    assert "no leader" in str(coordinator.of_group(offline, "test").reason)
    broken = small.built({"/brokers/topics/__consumer_offsets": small.znode("{")})
    assert "cannot be told" in str(coordinator.of_group(broken, "test").reason)
