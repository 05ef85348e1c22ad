"""Which partitions a plan gives other replicas, and which they have."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.intents import Reassign
from zkdash.cluster.plans.values import Plan
from zkdash.kafka.values import Assignment, Move


def of(plan: Plan) -> tuple[Move, ...]:
    """The partitions that a plan gives other replicas."""
    return tuple(
        move for step in plan.steps for move in getattr(step.goal, "moves", ()) if isinstance(move, Move)
    )


def before(
    plan: Plan, moves: tuple[Move, ...], state: ClusterState | None
) -> Mapping[tuple[str, int], tuple[int, ...]]:
    """Their replicas as they are, by topic and partition, where the plan or the state tells."""
    if isinstance(plan.inverse, Reassign):
        return {(move.topic, move.partition): move.replicas for move in plan.inverse.moves}
    if state is None:
        return {}
    values = {}
    for move in moves:
        topic = state.topics.get(move.topic)
        assignment = topic.assignment if topic else None
        if isinstance(assignment, Assignment) and move.partition in assignment.partitions:
            values[move.topic, move.partition] = assignment.partitions[move.partition]
    return values
