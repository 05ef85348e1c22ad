"""Which partitions are being moved, and where to, whichever way the move was asked for."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.kafka.values import Assignment, Reassignment

Targets = Mapping[int, tuple[int, ...]]
NONE: Targets = {}


def by_topic(reassignment: object) -> Mapping[str, Targets]:
    """The entries of /admin/reassign_partitions by topic; nothing where it is absent or not understood."""
    targets: dict[str, dict[int, tuple[int, ...]]] = {}
    if isinstance(reassignment, Reassignment):
        for move in reassignment.moves:
            targets.setdefault(move.topic, {})[move.partition] = move.replicas
    return targets


def of_topic(assignment: object, requested: Targets) -> Targets:
    """Target replicas by partition: what was asked for, and what the assignment itself says (2.4+)."""
    if not isinstance(assignment, Assignment) or not (assignment.adding or assignment.removing):
        return requested
    moving = dict(requested)
    for partition in {*assignment.adding, *assignment.removing}:
        leaving = assignment.removing.get(partition, ())
        replicas = assignment.partitions.get(partition, ())
        moving[partition] = tuple(replica for replica in replicas if replica not in leaving)
    return moving


def original_size(assignment: Assignment, partition: int, target: tuple[int, ...]) -> int:
    """How many replicas a moving partition had before its move: what its ISR is compared with (D8).

    From 2.4 the assignment says which were added. Before, its list is the union of old and new replicas;
    a move rarely changes their number, so the target's length is taken.
    """
    replicas = assignment.partitions[partition]
    if partition in assignment.adding or partition in assignment.removing:
        return len(replicas) - len(assignment.adding.get(partition, ()))
    return min(len(replicas), len(target) or len(replicas))
