"""What is wrong with one partition: the only source of its status, its topic's, and what checks find."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from zkdash.cluster.evaluation.context import Context, Mark, Part, Replicas, Shape, Shapes
from zkdash.cluster.model import summary
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.kafka.values import Assignment, PartitionState, Unparsable
from zkdash.znode import Unreadable

# No checks: a partition that moves, and whose ISR has somebody who is no replica.
MOVING, STRANGERS = "moving", "strangers"
NEVER: Final = 1 << 31  # no epoch is larger
# Nor what cannot be told: a state that does not parse, that may not be read, or that nobody assigns.
UNPARSABLE, UNREADABLE, STATELESS = "unparsable", "unreadable", "stateless"

# What a topic's status says of several partitions, by what is held against each.
TOLD: Final = {
    "D1": "offline",
    "D2": "led by a dead broker",
    "D3": "without state",
    "D4": "not assigned",
    "D5": "led by a broker out of sync",
    "D6": "led by no replica",
    "D7": "with a stranger in sync",
    "D8": "under-replicated",
    "D9": "at min ISR",
    "D9 under": "below min ISR",
    "D10": "with a dead broker in sync",
    "D14": "sharing a rack",
    "D15": "with one replica",
    "D16": "malformed",
    "D17": "ahead of the controller",
    "D25": "moving to what is not there",
    "D59": "recovering",
    MOVING: "moving",
}


def status(topic: Topic, partition: Partition, ground: Context) -> Status:
    """The status of one partition of 0.8+, by the same marks as its topic's."""
    if topic.deleting:
        return Severity.INFO, "deleting"
    return _worst(marks(topic, partition, ground))


def statuses(topic: Topic, ground: Context) -> list[Status]:
    """The status of each partition of a topic of 0.8+, in their order: put into words once a shape."""
    by_shape: dict[Shape, Status] = {}
    ordered: list[Status] = []
    for partition, shape in zip(topic.partitions, parts(topic, topic.partitions, ground), strict=True):
        if not isinstance(shape, Shape):
            ordered.append(status(topic, partition, ground))
            continue
        shape_status = by_shape.get(shape)
        if shape_status is None:
            shape_status = by_shape[shape] = _worst(shape.marks)
        ordered.append(shape_status)
    return ordered


def marks(topic: Topic, partition: Partition, ground: Context) -> list[Mark]:
    """All that is held against a partition, though its topic be deleted."""
    state, replicas = partition.state, partition.replicas
    if replicas is None and isinstance(topic.assignment, Assignment):
        return [Mark("D4", Severity.WARNING, "not assigned")]
    moving = partition.id in topic.moving
    marked: list[Mark] = []
    if not isinstance(state, PartitionState):
        marked.append(_without_state(partition))
        marked += _of_replicas(replicas or (), ground, moving=moving) if replicas is not None else ()
    elif moving or replicas is None:
        behind = summary.is_under_replicated(topic, partition)
        at = _At(replicas, state.isr, state.leader, ground.least(topic), behind, moving)
        marked += _of_state(at, ground.live)
        marked += _of_replicas(replicas, ground, moving=moving) if replicas is not None else ()
    else:
        marked += shapes(ground)(replicas, state.isr, state.leader, ground.least(topic)).marks
    if isinstance(state, PartitionState):
        marked += _of_epochs(state, ground)
    if moving:
        marked.append(Mark(MOVING, Severity.INFO, "moving"))
        marked += _of_target(topic, partition, ground)
    return marked


def shapes(ground: Context) -> Shapes:
    """What is held against partitions that do not move, by how they stand: few of them are different ones.

    Left out is what their controller's epoch and their recovery are about.
    """
    shape_of = ground.shapes.get("")
    if shape_of is None:
        shape_of = ground.shapes[""] = _shapes(ground.live, frozenset(ground.racks.items()))
    return shape_of


@functools.lru_cache(maxsize=8)
def _shapes(live: frozenset[int], racks: frozenset[tuple[int, str]]) -> Shapes:
    """One for all batches in which the same brokers are registered: up to twenty come in a second."""
    ground = Context(live, racks=dict(racks))

    @functools.lru_cache(maxsize=1 << 16)
    def shape(replicas: Replicas, isr: Replicas, leader: int, least: int) -> Shape:
        behind = len(isr) < len(replicas)
        shape_marks = (
            *_of_state(_At(replicas, isr, leader, least, behind), live),
            *_of_replicas(replicas, ground, moving=False),
        )
        rank = min((mark.severity.rank for mark in shape_marks if mark.words), default=Severity.OK.rank)
        out = tuple(broker for broker in replicas if broker not in isr) if behind else ()
        return Shape(shape_marks, Part(replicas, leader, out, rank, judged=True))

    return shape


def part(topic: Topic, partition: Partition, ground: Context) -> Part:
    """What counts of a partition that a shape does not tell of."""
    state, replicas = partition.state, partition.replicas or ()
    severity, _ = status(topic, partition, ground)
    if not isinstance(state, PartitionState):
        return Part(replicas, -1, (), severity.rank, judged=False)
    behind = not topic.deleting and summary.is_under_replicated(topic, partition)
    out = tuple(broker for broker in replicas if broker not in state.isr) if behind else ()
    judged = not topic.deleting and partition.id not in topic.moving
    return Part(replicas, state.leader, out, severity.rank, judged)


def parts(topic: Topic, partitions: Sequence[Partition], ground: Context) -> list[Part | Shape]:
    """What counts of each of some partitions of a topic."""
    if topic.deleting:
        return [part(topic, partition, ground) for partition in partitions]
    moving, least, shape_of = topic.moving, ground.least(topic), shapes(ground)
    epoch = NEVER if ground.controller_epoch is None else ground.controller_epoch
    shaped: list[Part | Shape] = []
    for partition in partitions:
        state, replicas = partition.state, partition.replicas
        if (
            not isinstance(state, PartitionState)
            or replicas is None
            or partition.id in moving
            or state.controller_epoch > epoch
            or state.leader_recovery_state
        ):
            shaped.append(part(topic, partition, ground))
        else:
            shaped.append(shape_of(replicas, state.isr, state.leader, least))
    return shaped


def _worst(against: Iterable[Mark]) -> Status:
    return summary.worst([(mark.severity, mark.words) for mark in against if mark.words])


def _without_state(partition: Partition) -> Mark:
    state = partition.state
    if isinstance(state, Unparsable):
        return Mark(UNPARSABLE, Severity.UNKNOWN, "unparsable")
    if isinstance(state, Unreadable):
        return Mark(UNREADABLE, Severity.UNKNOWN, "unreadable")
    if partition.replicas is None:
        return Mark(STATELESS, Severity.UNKNOWN, "no state")
    return Mark("D3", Severity.CRITICAL, "no state")


class _At(NamedTuple):
    """How a partition stands: whether it is `behind` its replicas depends on its move, if it moves."""

    replicas: Replicas | None
    isr: Replicas
    leader: int
    least: int
    behind: bool
    moves: bool = False


def _of_state(at: _At, live: frozenset[int]) -> Iterator[Mark]:
    """Without a leader the last member of the ISR stays in it by design: nothing is said of that."""
    if at.leader < 0:
        yield Mark("D1", Severity.CRITICAL, "offline")
    elif at.leader not in live:
        yield Mark("D2", Severity.CRITICAL, f"leader {at.leader} is dead")
    if at.behind:
        yield Mark("D8", Severity.WARNING, "under-replicated")
    if at.leader >= 0:
        yield from _of_leader(at, live)
    strangers = [broker for broker in at.isr if broker not in (at.replicas or ())]
    if strangers:
        yield Mark(STRANGERS, Severity.OK, "")
        if at.replicas is not None and not at.moves:
            names = ids(strangers)
            yield Mark(
                "D7", Severity.WARNING, f"{names} in sync, not assigned", f"{names} in sync, but not assigned"
            )


def _of_leader(at: _At, live: frozenset[int]) -> Iterator[Mark]:
    leader, isr, least = at.leader, at.isr, at.least
    if leader not in isr:
        detail = f"{leader} leads, in sync {ids(isr)}"
        yield Mark("D5", Severity.CRITICAL, f"leader {leader} is not in sync", detail)
    if at.replicas is not None and leader not in at.replicas:
        detail = f"{leader} leads, assigned {ids(at.replicas)}"
        yield Mark("D6", Severity.CRITICAL, f"leader {leader} is no replica", detail)
    if len(isr) < least:
        detail = f"{len(isr)} of {least} that must be in sync"
        yield Mark("D9 under", Severity.CRITICAL, f"below min ISR ({len(isr)} of {least})", detail)
    elif len(isr) == least and at.behind:
        yield Mark("D9", Severity.WARNING, "at min ISR", f"{least} in sync, no more than must be")
    dead = [broker for broker in isr if broker not in live]
    if dead:
        words = "" if dead == [leader] else f"{ids(dead)} in sync, but dead"
        yield Mark("D10", Severity.WARNING, words, f"{ids(dead)} in sync, but not registered")


def _of_epochs(state: PartitionState, ground: Context) -> Iterator[Mark]:
    if ground.controller_epoch is not None and state.controller_epoch > ground.controller_epoch:
        yield Mark("D17", Severity.CRITICAL, "ahead of the controller", f"epoch {state.controller_epoch}")
    if state.leader_recovery_state == 1:
        yield Mark("D59", Severity.WARNING, "recovering", f"{state.leader} leads")


def _of_replicas(replicas: Replicas, ground: Context, *, moving: bool) -> Iterator[Mark]:
    if not is_possible(replicas):
        yield Mark("D16", Severity.CRITICAL, "malformed replicas", f"replicas {ids(replicas) or 'none'}")
    if moving:
        return  # the list is that of old and new replicas
    if len(replicas) == 1 and len(ground.live) > 1:
        yield Mark("D15", Severity.WARNING, "one replica")
    if ground.racks and ground.is_crowded(replicas):
        yield Mark("D14", Severity.WARNING, "replicas share a rack")


def _of_target(topic: Topic, partition: Partition, ground: Context) -> Iterator[Mark]:
    """Of a move that /admin/reassign_partitions asks for."""
    target = ground.targets.get(topic.name, {}).get(partition.id, ())
    dead = [broker for broker in target if broker not in ground.live]
    if dead:
        names = f"{ids(dead)} not registered"
        yield Mark("D25", Severity.CRITICAL, f"moves to {ids(dead)}, not registered", names)


def is_possible(replicas: Replicas) -> bool:
    """Whether a controller can act on a list of replicas."""
    return bool(replicas) and min(replicas) >= 0 and len(set(replicas)) == len(replicas)


def ids(brokers: Replicas | list[int]) -> str:
    return ", ".join(map(str, brokers))
