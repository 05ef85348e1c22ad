"""How many partitions got another leader by a batch."""

from __future__ import annotations

from zkdash.cluster.changes.topics import is_same
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.kafka import paths
from zkdash.kafka.values import PartitionState
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Batch


def count_changed(before: ClusterState, after: ClusterState, batch: Batch) -> int:
    """The partitions of topics that stay whose leader is another one, or that lost theirs. The cost follows
    the batch, and is nothing where no topic changed."""
    if not before.loaded or before.topics is after.topics:
        return 0
    places = (paths.locate(path) for path in batch.changed)
    return sum(
        _has_changed(before.topics.get(place.name), after.topics.get(place.name), int(place.key))
        for place in places
        if place.kind is Kind.STATE
    )


def _has_changed(was: Topic | None, now: Topic | None, partition: int) -> bool:
    if was is None or now is None or not is_same(was, now):
        return False
    earlier, other = _leader(was, partition), _leader(now, partition)
    return earlier is not None and other is not None and earlier != other


def _leader(topic: Topic, number: int) -> int | None:
    partition = topic.partition(number)
    state = None if partition is None else partition.state
    return state.leader if isinstance(state, PartitionState) else None
