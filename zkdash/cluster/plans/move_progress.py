"""How each partition of a reassignment stands, told from a state: also why one does not get on. Pure."""

from __future__ import annotations

import enum

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.cluster.plans.goals import Assigned
from zkdash.kafka.values import Assignment, Move, PartitionState


class Stage(enum.Enum):
    """Where a partition stands. lost: it neither moves nor is where it should be. stuck: it cannot get on."""

    LOST = "lost"
    STUCK = "stuck"
    MOVING = "moving"
    DONE = "done"

    @property
    def severity(self) -> Severity:
        return _SEVERITIES[self]


_SEVERITIES = {
    Stage.LOST: Severity.CRITICAL,
    Stage.STUCK: Severity.WARNING,
    Stage.MOVING: Severity.INFO,
    Stage.DONE: Severity.OK,
}


class Watched(msgspec.Struct, frozen=True):
    """One partition on its way: of its `replicas` to be, those in the ISR and those missing, and why."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    missing: tuple[int, ...]
    stage: Stage
    why: str


def watch(goal: Assigned, state: ClusterState) -> tuple[Watched, ...]:
    """Every partition of the goal, those that need a look first."""
    watched = [_watched(move, state) for move in goal.moves]
    ranks = {stage: rank for rank, stage in enumerate(Stage)}
    return tuple(
        sorted(watched, key=lambda partition: (ranks[partition.stage], partition.topic, partition.partition))
    )


def _watched(move: Move, state: ClusterState) -> Watched:
    topic = state.topics.get(move.topic)
    part = next((part for part in topic.partitions if part.id == move.partition), None) if topic else None
    partition_state = part.state if part is not None and isinstance(part.state, PartitionState) else None
    isr = partition_state.isr if partition_state else ()
    in_sync = tuple(broker for broker in move.replicas if broker in isr)
    missing = tuple(broker for broker in move.replicas if broker not in isr)
    stage, why = _judge(move, topic, part, missing, state)
    return Watched(move.topic, move.partition, move.replicas, in_sync, missing, stage, why)


def _judge(
    move: Move, topic: Topic | None, part: Partition | None, missing: tuple[int, ...], state: ClusterState
) -> tuple[Stage, str]:
    if topic is None:
        return Stage.LOST, "the topic is gone"
    if move.partition not in topic.moving:
        assignment = topic.assignment
        if isinstance(assignment, Assignment) and assignment.partitions.get(move.partition) == move.replicas:
            return Stage.DONE, "it is where it should be"
        return Stage.LOST, "it no longer moves and is not where it should be"
    if hindrance := _hindrance(part, missing, state):
        return Stage.STUCK, hindrance
    if missing:
        return (
            Stage.MOVING,
            f"{'brokers' if len(missing) > 1 else 'broker'} {_listed(missing)} not in sync yet",
        )
    return Stage.MOVING, "all replicas are in sync; the controller drops the old ones next"


def _hindrance(part: Partition | None, missing: tuple[int, ...], state: ClusterState) -> str:
    """Why a move cannot get on, "" where nothing is seen that keeps it."""
    dead = [broker for broker in missing if broker not in state.brokers]
    if dead:
        return f"broker {dead[0]} is not registered, so it copies nothing"
    if part is not None and isinstance(part.state, PartitionState) and part.state.leader < 0:
        return "it has no leader to copy from"
    return "" if state.controller else "no controller is there to carry it out"


def _listed(brokers: tuple[int, ...]) -> str:
    return ", ".join(map(str, brokers))
