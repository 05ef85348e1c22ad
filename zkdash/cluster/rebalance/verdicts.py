"""One verdict for each partition of a group."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from zkdash.cluster.model.groups import Group
from zkdash.cluster.rebalance.values import AssignmentInputs, Part, Verdict
from zkdash.kafka.assignment.assignment_context import PartitionAssignment
from zkdash.kafka.consumers import consumer_ids

_ELSEWHERE = "no member subscribes to this topic, or the topic has no such partition"


class _Case(msgspec.Struct, frozen=True):
    """What is known of one partition. `why` says why the plan does not tell its owner."""

    topic: str
    key: str
    wanted: bool
    expected: str | None
    why: str | None


def judge(
    group: Group, demand: AssignmentInputs, plan: PartitionAssignment, *, doubt: str | None = None
) -> Iterator[Part]:
    """The partitions that the group asks for and those that it owns beside them, by topic.

    `doubt` says why an owner other than the plan's may be right all the same.
    """
    wanted = {topic for topics in demand.demand.members.values() for topic in topics}
    nothing = next(iter((*demand.blocked, *demand.unclear)), None)
    for topic in sorted({*wanted, *demand.open_topics, *group.owners}):
        planned = plan.owners.get(topic, {})
        why = nothing or demand.open_topics.get(topic)
        keys = dict.fromkeys(demand.demand.partitions.get(topic, ()) if topic in wanted else (), True)
        for key in (*keys, *sorted(group.owners.get(topic, {}).keys() - keys.keys())):
            untold = plan.undetermined if key in planned and planned[key] is None else None
            expected = None if why else planned.get(key)
            yield _judge(group, _Case(topic, key, key in keys, expected, why or untold), doubt)


def _judge(group: Group, case: _Case, doubt: str | None) -> Part:
    owner = group.owners.get(case.topic, {}).get(case.key)
    if owner is None:
        return _part(case, Verdict.UNOWNED, None, None, case.why)
    if not isinstance(owner.thread, str):
        return _part(case, Verdict.UNDETERMINED, None, None, owner.thread.reason)
    thread = consumer_ids.parse_thread(owner.thread)
    if thread.consumer not in group.members:
        return _part(case, Verdict.NOT_REGISTERED, owner.thread, thread.consumer, thread.reason)
    verdict, reason = _compare(case, owner.thread, thread.consumer, doubt)
    return _part(case, verdict, owner.thread, thread.consumer, reason)


def _compare(case: _Case, thread: str, consumer: str | None, doubt: str | None) -> tuple[Verdict, str | None]:
    """The verdict where a registered member owns the partition."""
    if case.why is not None:
        return Verdict.UNDETERMINED, case.why
    if not case.wanted:
        return Verdict.STRAY, _ELSEWHERE
    if thread == case.expected:
        return Verdict.EXPECTED, None
    if doubt is not None:
        return Verdict.UNDETERMINED, doubt
    if case.expected is None:
        return Verdict.OTHER_MEMBER, "the plan leaves this partition without an owner"
    same = consumer_ids.parse_thread(case.expected).consumer == consumer
    return Verdict.OTHER_MEMBER, "another thread of the expected member" if same else None


def _part(case: _Case, verdict: Verdict, owner: str | None, member: str | None, reason: str | None) -> Part:
    return Part(case.topic, case.key, owner, member, case.expected, verdict, reason)
