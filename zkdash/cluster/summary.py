"""The numbers and the status of a topic, from its znodes and the live brokers."""

from __future__ import annotations

import functools
from collections.abc import Container

import msgspec

from zkdash.cluster import moves
from zkdash.cluster.tone import Tone
from zkdash.cluster.topics import Partition, PartitionCount, Topic, TopicSummary
from zkdash.kafka.values import Assignment, PartitionState, TopicConfig, Unparsable
from zkdash.znode import Unreadable, Znode

Status = tuple[Tone, str]


def summarise(topic: Topic, live: Container[int]) -> TopicSummary:
    """Sum a topic up. `live` are the registered broker ids."""
    partitions = topic.partitions
    if isinstance(topic.assignment, Assignment):
        partitions = tuple(partition for partition in partitions if partition.replicas is not None)
    states = [partition.state for partition in partitions]
    others = [state for state in states if not isinstance(state, PartitionState)]
    leaders = [state.leader for state in states if isinstance(state, PartitionState)]
    led = [leader for leader in leaders if leader >= 0]
    preferable, preferred = _preference(topic, partitions)
    doubts = [*others, *(count.count for count in topic.counts)]
    summary = TopicSummary(
        name=topic.name,
        partitions=_size(topic),
        replication=_replication(topic),
        under_replicated=sum(_is_under_replicated(topic, partition) for partition in partitions),
        offline=len(leaders) - len(led),
        leader_dead=sum(leader not in live for leader in led),
        stateless=others.count(None),
        unparsable=sum(isinstance(doubt, Unparsable) for doubt in doubts),
        preferred=preferred,
        preferable=preferable,
        overrides=overrides(topic),
        changed=_changed(topic),
        leaders=_shared(frozenset(led)),
        brokers=_brokers(topic, led),
        orphans=len(topic.partitions) - len(partitions),
        unreadable=sum(isinstance(doubt, Unreadable) for doubt in doubts),
        moving=len(topic.moving),
        deleting=topic.deleting,
        layout=topic.layout,
    )
    tone, words = _status(topic, summary)
    return summary if words == "ok" else msgspec.structs.replace(summary, tone=tone, words=words)


def partition_status(topic: Topic, partition: Partition, live: Container[int]) -> Status:
    """The status of one partition, by the same rules as its topic's."""
    if topic.deleting:
        return Tone.INFO, "deleting"
    if partition.replicas is None and isinstance(topic.assignment, Assignment):
        return Tone.WARNING, "not assigned"
    facts: list[Status] = []
    state = partition.state
    if not isinstance(state, PartitionState):
        facts.append((Tone.UNKNOWN, "no state" if state is None else _doubt(state)))
    elif state.leader < 0:
        facts.append((Tone.CRITICAL, "offline"))
    elif state.leader not in live:
        facts.append((Tone.CRITICAL, f"leader {state.leader} is dead"))
    if _is_under_replicated(topic, partition):
        facts.append((Tone.WARNING, "under-replicated"))
    if partition.id in topic.moving:
        facts.append((Tone.INFO, "moving"))
    return worst(facts)


def count_status(count: PartitionCount, live: Container[int]) -> Status:
    """The status of what a 0.7 broker says of a topic."""
    if not isinstance(count.count, int):
        return Tone.UNKNOWN, _doubt(count.count)
    return (Tone.OK, "ok") if count.broker in live else (Tone.WARNING, "broker is not registered")


def _doubt(value: Unparsable | Unreadable) -> str:
    return "unparsable" if isinstance(value, Unparsable) else "unreadable"


def worst(facts: list[Status]) -> Status:
    """The worst tone of the facts, and all of them in words, worst first; "ok" where there are none."""
    if not facts:
        return Tone.OK, "ok"
    facts.sort(key=lambda fact: fact[0].rank)
    return facts[0][0], ", ".join(words for _, words in facts)


def _status(topic: Topic, summary: TopicSummary) -> Status:
    """A topic that is being deleted loses its leaders by design: nothing else is held against it."""
    if topic.deleting:
        return Tone.INFO, "deleting"
    unparsable = summary.unparsable or isinstance(topic.assignment, Unparsable)
    unreadable = summary.unreadable or isinstance(topic.assignment, Unreadable)
    facts = [
        (summary.offline, Tone.CRITICAL, f"{summary.offline} offline"),
        (summary.leader_dead, Tone.CRITICAL, f"{summary.leader_dead} led by a dead broker"),
        (summary.under_replicated, Tone.WARNING, f"{summary.under_replicated} under-replicated"),
        (unparsable, Tone.UNKNOWN, "unparsable"),
        (unreadable, Tone.UNKNOWN, "unreadable"),
        (summary.orphans, Tone.WARNING, f"{summary.orphans} not assigned"),
        (summary.stateless, Tone.UNKNOWN, f"{summary.stateless} without state"),
        (summary.moving, Tone.INFO, f"{summary.moving} moving"),
    ]
    return worst([(tone, words) for holds, tone, words in facts if holds])


def _preference(topic: Topic, partitions: tuple[Partition, ...]) -> tuple[int, int]:
    """How many partitions could be led by their preferred replica, and how many are."""
    preferable = preferred = 0
    for partition in partitions:
        state = partition.state
        if not isinstance(state, PartitionState) or state.leader < 0 or not partition.replicas:
            continue
        if partition.id not in topic.moving:
            preferable += 1
            preferred += partition.replicas[0] == state.leader
    return preferable, preferred


def _is_under_replicated(topic: Topic, partition: Partition) -> bool:
    replicas, state = partition.replicas, partition.state
    return (
        replicas is not None
        and isinstance(state, PartitionState)
        and len(state.isr) < len(replicas)
        and len(state.isr) < _original_size(topic, partition)
    )


def _brokers(topic: Topic, leaders: list[int]) -> frozenset[int]:
    assigned = topic.assignment.partitions.values() if isinstance(topic.assignment, Assignment) else ()
    return _shared(frozenset(leaders).union(*assigned, (count.broker for count in topic.counts)))


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
    sizes = [*map(len, topic.assignment.partitions.values())]
    return min(sizes), max(sizes)


def overrides(topic: Topic) -> int | None:
    """How many settings differ from the brokers' defaults; None where the config is not to be had."""
    if topic.config is None:
        return 0
    return len(topic.config.config) if isinstance(topic.config, TopicConfig) else None


def _changed(topic: Topic) -> int:
    times = [partition.znode.mtime for partition in topic.partitions if partition.znode is not None]
    times += [count.znode.mtime for count in topic.counts if count.znode is not None]
    if isinstance(topic.znode, Znode):
        times.append(topic.znode.mtime)
    if topic.config_znode is not None:
        times.append(topic.config_znode.mtime)
    return max(times, default=0)
