"""That a topic's status, its partitions' and what checks find of it say the same."""

from __future__ import annotations

from zkdash.cluster.checks import BY_ID, CHECKS
from zkdash.cluster.checks.catalogue import EVALUATIONS
from zkdash.cluster.evaluation import evaluator, partitions, topics
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status

# What a check says of a topic that is nothing of its own: it is told by what makes it so, or is no fault.
_BESIDE = {partitions.MOVING, partitions.STRANGERS, "D28"}
_KEPT = (*topics.CHECKS, *EVALUATIONS.topics)
_FINDINGS = (Severity.CRITICAL, Severity.WARNING)


def check(state: ClusterState) -> None:
    """Of every topic of a state."""
    ground = evaluator.ground_of(state)
    for name, topic in state.topics.items():
        of_parts = [partitions.status(topic, part, ground) for part in topic.partitions]
        assert partitions.statuses(topic, ground) == of_parts, name
        if not topic.deleting:
            _check(state, name, of_parts)


def _check(state: ClusterState, name: str, of_parts: list[Status]) -> None:
    numbers = state.summaries[name]
    found = {one: state.blames[one][name] for one in _KEPT if name in state.blames.get(one, ())}
    claimed = [cause.severity or BY_ID[one].severity for one, cause in found.items() if one not in _BESIDE]
    claimed += [one.severity for one in CHECKS if one.sums and getattr(numbers, one.sums)]
    told = (name, numbers.words, found, of_parts)
    # What checks find of a topic is as bad as its status, where that is a matter of checks at all.
    worst = min((severity for severity in claimed if severity in _FINDINGS), key=_rank, default=None)
    assert worst is numbers.severity or (worst is None and numbers.severity not in _FINDINGS), told
    # No partition is worse than its topic, and one is as bad where the topic as a whole is not at fault.
    assert all(severity.rank >= numbers.severity.rank for severity, _ in of_parts), told
    whole = found.keys() & {"D15", "D16", "D25", "D55"}
    if numbers.severity in _FINDINGS and not whole:
        assert min((severity for severity, _ in of_parts), key=_rank) is numbers.severity, told


def _rank(severity: Severity) -> int:
    return severity.rank
