"""The numbers of a topic, from its znodes, and what its partitions are asked."""

from __future__ import annotations

import functools
from collections.abc import Container, Mapping, Sequence

from zkdash.cluster.model import moves
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic, TopicSummary
from zkdash.kafka.values import Assignment, PartitionState, TopicConfig, Unparsable
from zkdash.znode import Unreadable

Status = tuple[Severity, str]


def numbers(
    topic: Topic, *, leaders: Sequence[int], preferred: int, preferable: int, counts: Mapping[str, int]
) -> TopicSummary:
    """Sum a topic up. `leaders` are those of all its partitions, `counts` how many of these have what is held
    against a partition (`judging.partitions`)."""
    doubts = [count.count for count in topic.counts]
    led_by = frozenset(leaders)
    return TopicSummary(
        name=topic.name,
        partitions=_size(topic),
        replication=_replication(topic),
        under_replicated=counts.get("D8", 0),
        offline=counts.get("D1", 0),
        leader_dead=counts.get("D2", 0),
        stateless=counts.get("D3", 0) + counts.get("stateless", 0),
        unparsable=counts.get("unparsable", 0) + sum(isinstance(doubt, Unparsable) for doubt in doubts),
        preferred=preferred,
        preferable=preferable,
        overrides=overrides(topic),
        changed=topic.changed,
        leaders=_shared(led_by),
        brokers=_brokers(topic, led_by),
        orphans=counts.get("D4", 0),
        unreadable=counts.get("unreadable", 0) + sum(isinstance(doubt, Unreadable) for doubt in doubts),
        moving=len(topic.moving),
        deleting=topic.deleting,
        layout=topic.layout,
    )


def assigned(topic: Topic) -> Sequence[Partition]:
    """The partitions without the orphans, which have a state but are not assigned any more (D4)."""
    assignment = topic.assignment
    if not isinstance(assignment, Assignment) or len(assignment.partitions) == len(topic.partitions):
        return topic.partitions
    return [partition for partition in topic.partitions if partition.replicas is not None]


def count_status(count: PartitionCount, live: Container[int]) -> Status:
    """The status of what a 0.7 broker says of a topic."""
    if not isinstance(count.count, int):
        return Severity.UNKNOWN, _doubt(count.count)
    return (Severity.OK, "ok") if count.broker in live else (Severity.WARNING, "broker is not registered")


def _doubt(value: Unparsable | Unreadable) -> str:
    return "unparsable" if isinstance(value, Unparsable) else "unreadable"


def worst(facts: list[Status]) -> Status:
    """The worst severity of the facts, and all of them in words, worst first; "ok" where there are none."""
    if not facts:
        return Severity.OK, "ok"
    facts.sort(key=lambda fact: fact[0].rank)
    return facts[0][0], ", ".join(words for _, words in facts)


def is_under_replicated(topic: Topic, partition: Partition) -> bool:
    """Whether the ISR is smaller than it should be, while a partition moves: than it was (D8)."""
    replicas, state = partition.replicas, partition.state
    return (
        replicas is not None
        and isinstance(state, PartitionState)
        and len(state.isr) < len(replicas)
        and len(state.isr) < _original_size(topic, partition)
    )


def _brokers(topic: Topic, leaders: frozenset[int]) -> frozenset[int]:
    assigned = {*topic.assignment.partitions.values()} if isinstance(topic.assignment, Assignment) else ()
    return _shared(leaders.union(*assigned, [count.broker for count in topic.counts]))


@functools.lru_cache(maxsize=4096)
def _shared(brokers: frozenset[int]) -> frozenset[int]:
    """One object for equal sets: most topics are spread over the same brokers."""
    return brokers


def _original_size(topic: Topic, partition: Partition) -> int:
    """How many replicas should be in sync: while a partition moves, those that it had before."""
    replicas, target = partition.replicas or (), topic.moving.get(partition.id)
    if target is None or not isinstance(topic.assignment, Assignment):
        return len(replicas)
    return moves.original_size(topic.assignment, partition.id, target)


def _size(topic: Topic) -> int | None:
    """How many partitions; None where neither assignment nor counts can say."""
    if isinstance(topic.assignment, Unparsable | Unreadable) or (topic.directory and not topic.assignment):
        return None
    size = len(topic.assignment.partitions) if topic.assignment else 0
    for count in topic.counts:
        if not isinstance(count.count, int):
            return None
        size += count.count
    return size


def _replication(topic: Topic) -> tuple[int, int] | None:
    if not isinstance(topic.assignment, Assignment) or not topic.assignment.partitions:
        return None
    sizes = {*map(len, topic.assignment.partitions.values())}
    return min(sizes), max(sizes)


def overrides(topic: Topic) -> int | None:
    """How many settings differ from the brokers' defaults; None where the config is not to be had."""
    if topic.config is None:
        return 0
    return len(topic.config.config) if isinstance(topic.config, TopicConfig) else None
