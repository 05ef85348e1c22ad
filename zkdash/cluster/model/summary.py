"""The numbers and the status of a topic, from its znodes and the live brokers."""

from __future__ import annotations

import functools
from collections.abc import Container, Sequence
from typing import NamedTuple

import msgspec

from zkdash.cluster.model import moves
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic, TopicSummary
from zkdash.kafka.values import Assignment, PartitionState, TopicConfig, Unparsable
from zkdash.znode import Unreadable

Status = tuple[Tone, str]


def summarise(topic: Topic, live: frozenset[int]) -> TopicSummary:
    """Sum a topic up. `live` are the registered broker ids."""
    partitions = assigned(topic)
    led = _led(topic, partitions)
    doubts = [*led.stateless, *(count.count for count in topic.counts)]
    leaders = frozenset(led.leaders)
    summary = TopicSummary(
        name=topic.name,
        partitions=_size(topic),
        replication=_replication(topic),
        under_replicated=led.under_replicated,
        offline=led.offline,
        leader_dead=0 if leaders <= live else sum(leader not in live for leader in led.leaders),
        stateless=led.stateless.count(None),
        unparsable=sum(isinstance(doubt, Unparsable) for doubt in doubts),
        preferred=led.preferred,
        preferable=led.preferable,
        overrides=overrides(topic),
        changed=topic.changed,
        leaders=_shared(leaders),
        brokers=_brokers(topic, leaders),
        orphans=len(topic.partitions) - len(partitions),
        unreadable=sum(isinstance(doubt, Unreadable) for doubt in doubts),
        moving=len(topic.moving),
        deleting=topic.deleting,
        layout=topic.layout,
    )
    tone, words = _status(topic, summary)
    return summary if tone is Tone.OK else msgspec.structs.replace(summary, tone=tone, words=words)


class _Led(NamedTuple):
    """What the states of a topic's partitions say: leaders in all, and what stands in place of states."""

    leaders: list[int]
    stateless: list[object]
    offline: int
    under_replicated: int
    preferred: int
    preferable: int


def _led(topic: Topic, partitions: Sequence[Partition]) -> _Led:
    """One plain loop: a first load goes through it 200 000 times."""
    leaders: list[int] = []
    stateless: list[object] = []
    offline = under = preferred = preferable = 0
    moving = topic.moving
    for partition in partitions:
        state, replicas = partition.state, partition.replicas
        if not isinstance(state, PartitionState):
            stateless.append(state)
            continue
        if state.leader < 0:
            offline += 1
        else:
            leaders.append(state.leader)
            if replicas and partition.id not in moving:
                preferable += 1
                preferred += replicas[0] == state.leader
        if replicas and len(state.isr) < len(replicas):
            under += is_under_replicated(topic, partition)
    return _Led(leaders, stateless, offline, under, preferred, preferable)


def assigned(topic: Topic) -> Sequence[Partition]:
    """The partitions without the orphans, which have a state but are not assigned any more (D4)."""
    assignment = topic.assignment
    if not isinstance(assignment, Assignment) or len(assignment.partitions) == len(topic.partitions):
        return topic.partitions
    return [partition for partition in topic.partitions if partition.replicas is not None]


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
    if is_under_replicated(topic, partition):
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
        (Tone.CRITICAL, summary.offline, "offline"),
        (Tone.CRITICAL, summary.leader_dead, "led by a dead broker"),
        (Tone.WARNING, summary.under_replicated, "under-replicated"),
        (Tone.WARNING, summary.orphans, "not assigned"),
        (Tone.UNKNOWN, summary.stateless, "without state"),
        (Tone.INFO, summary.moving, "moving"),
    ]
    found = [(tone, f"{count} {words}") for tone, count, words in facts if count]
    found += [(Tone.UNKNOWN, "unparsable")] if unparsable else []
    found += [(Tone.UNKNOWN, "unreadable")] if unreadable else []
    return worst(found)


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
    assigned = topic.assignment.partitions.values() if isinstance(topic.assignment, Assignment) else ()
    return _shared(leaders.union(*assigned, (count.broker for count in topic.counts)))


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
