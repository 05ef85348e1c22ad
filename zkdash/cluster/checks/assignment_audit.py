"""Whether groups own what they should (D41, D42): a few groups at a time, as a plan is dear.

A group is looked at again when its members, its owners or the topics that it consumes are others: only those
are asked whether they are that changed since the last look, or that consume a topic that did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import immutables
import msgspec

from zkdash.cluster.evaluation.details import told_of
from zkdash.cluster.model import differing
from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.draft import Draft
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
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
    that a plan leaves without a partition: both by the group's name. `waiting` are those that a look had no
    budget for, `seen` the state's groups and topics as they were then."""

    groups: immutables.Map[str, Surveyed] = immutables.Map()
    others: immutables.Map[str, Violation] = NOBODY
    idle: immutables.Map[str, Violation] = NOBODY
    waiting: tuple[str, ...] = ()
    seen: tuple[Mapping[str, Group], Mapping[str, Topic]] = ({}, {})


EMPTY = AssignmentAudit()


def look(
    before: AssignmentAudit,
    state: ClusterState,
    budget: int = BUDGET,
    changed: ChangedAreas | None = None,
) -> AssignmentAudit:
    """Look at up to `budget` groups that are new or changed, and forget those that are gone.

    `changed` names all that changed since the last look, where somebody kept that.
    """
    suspects = list(dict.fromkeys((*before.waiting, *_suspects(before, state, changed))))
    if not suspects and state.groups is before.seen[0] and state.topics is before.seen[1]:
        return before
    groups, others, idle = Draft(before.groups), Draft(before.others), Draft(before.idle)
    waiting: list[str] = []
    for name in suspects:
        group = state.groups.get(name)
        if group is None or not group.members:
            groups.put(name, None)
            others.put(name, None)
            idle.put(name, None)
            continue
        made_of = _made_of(state, group)
        former = before.groups.get(name)
        if former is not None and len(former.of) == len(made_of) and _same(former.of, made_of):
            continue
        if not budget:
            waiting.append(name)
            continue
        budget -= 1
        groups.put(name, Surveyed(made_of))
        expected = expectation.expect(state, group, 0, tries_all=False)
        others.put(name, _other(expected))
        idle.put(name, _idle(expected))
    seen = state.groups, state.topics
    return AssignmentAudit(groups.close(), others.close(), idle.close(), tuple(waiting), seen)


def _suspects(before: AssignmentAudit, state: ClusterState, changed: ChangedAreas | None) -> Iterator[str]:
    """The groups of which something changed since the last look, or of a topic that they consume."""
    groups, topics = before.seen
    if changed is None or changed.everything:
        others, moved = differing.names(groups, state.groups), differing.names(topics, state.topics)
    else:
        others = differing.among(changed.groups, groups, state.groups)
        moved = differing.among(changed.topics, topics, state.topics)
    yield from sorted(others)
    for name in moved:
        consumers = state.consumers.get(name)
        if consumers:
            was, now = topics.get(name), state.topics.get(name)
            if was is None or now is None or not _is_alike(was, now):
                yield from consumers


def _is_alike(was: Topic, now: Topic) -> bool:
    return was.assignment is now.assignment and was.counts is now.counts


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
