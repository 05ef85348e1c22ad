"""Whether groups own what they should (D41, D42): a few groups at a time, as a plan is dear.

A group is looked at again when its members, its owners or the topics that it consumes are others.
"""

from __future__ import annotations

import immutables
import msgspec

from zkdash.cluster.evaluation.details import told_of
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.violations import NOBODY, Violation
from zkdash.cluster.rebalance import expectation
from zkdash.cluster.rebalance.values import Expectation, Verdict

# A plan of 20 partitions takes 0.25 ms: so many groups in one look take 25 ms.
BUDGET = 100


class Surveyed(msgspec.Struct, frozen=True):
    """A group when its plan was made: `of` are the very objects that the plan was made from."""

    of: tuple[object, ...]


class AssignmentAudit(msgspec.Struct, frozen=True):
    """`groups` are those looked at so far, `others` the owners that no plan explains, `idle` the threads
    that a plan leaves without a partition: both by the group's name."""

    groups: immutables.Map[str, Surveyed] = immutables.Map()
    others: immutables.Map[str, Violation] = NOBODY
    idle: immutables.Map[str, Violation] = NOBODY


EMPTY = AssignmentAudit()


def look(before: AssignmentAudit, state: ClusterState, budget: int = BUDGET) -> AssignmentAudit:
    """Look at up to `budget` groups that are new or changed, and forget those that are gone."""
    groups, others, idle = before.groups.mutate(), before.others.mutate(), before.idle.mutate()
    gone = [name for name in before.groups if name not in state.groups or not state.groups[name].members]
    for name in gone:
        del groups[name]
        others.pop(name, None)
        idle.pop(name, None)
    looked = 0
    for name, group in state.groups.items():
        if not group.members:
            continue
        made_of = _made_of(state, group)
        former = before.groups.get(name)
        if former is not None and len(former.of) == len(made_of) and _same(former.of, made_of):
            continue
        if looked == budget:
            break
        looked += 1
        groups[name] = Surveyed(made_of)
        expected = expectation.expect(state, group, 0)
        _put(others, name, _other(expected))
        _put(idle, name, _idle(expected))
    if not looked and not gone:
        return before
    return AssignmentAudit(groups.finish(), others.finish(), idle.finish())


def _same(former: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return all(left is right for left, right in zip(former, other, strict=True))


def _made_of(state: ClusterState, group: Group) -> tuple[object, ...]:
    """What a plan depends on. A wildcard's new topic is noticed once somebody owns a part of it."""
    topics = [state.topics.get(name) for name in state.group_summaries[group.name].topics]
    return (
        group.members,
        group.owners,
        *(topic.assignment for topic in topics if topic is not None),
        *(topic.counts for topic in topics if topic is not None and topic.counts),
    )


def _other(expected: Expectation) -> Violation | None:
    wrong = [part for part in expected.parts if part.verdict is Verdict.OTHER_MEMBER]
    if not wrong:
        return None
    names = told_of([f"{part.topic} {part.key}" for part in wrong])
    return Violation(len(wrong), why=names)


def _idle(expected: Expectation) -> Violation | None:
    idle = expected.idle
    return Violation(len(idle), why=told_of(idle)) if idle else None


def _put(causes: immutables.MapMutation[str, Violation], name: str, cause: Violation | None) -> None:
    if cause is None:
        causes.pop(name, None)
    else:
        causes[name] = cause
