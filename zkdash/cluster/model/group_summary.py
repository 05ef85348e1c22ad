"""The numbers and the status of a group, from its znodes and the topics that it subscribes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from zkdash.cluster.model import summary
from zkdash.cluster.model.groups import Group, GroupSummary, Owner
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import Topic
from zkdash.kafka import paths
from zkdash.kafka.consumers import consumer_ids
from zkdash.kafka.values import Assignment, Pattern, Registration, Unparsable
from zkdash.znode import Unreadable


class Lookup(Protocol):
    """Finds a topic by name."""

    def get(self, name: str, /) -> Topic | None: ...


def summarise(group: Group, topics: Lookup) -> GroupSummary:
    """Sum a group up; `topics` finds any of the cluster's."""
    registered = [member.registration for member in group.members.values()]
    owners = [owner for parts in group.owners.values() for owner in parts.values()]
    doubts = [*registered, *(owner.thread for owner in owners)]
    subscribed = frozenset(_subscriptions(registered))
    expected = unowned = 0
    for name in subscribed:
        topic = topics.get(name)
        if topic is not None and not topic.deleting:
            size, owned = _coverage(topic, group.owners.get(name, {}))
            expected += size
            unowned += size - owned
    numbers = GroupSummary(
        name=group.name,
        members=len(group.members),
        topics=subscribed.union(group.owners, group.offsets),
        subscribed=subscribed,
        owned=len(owners),
        expected=expected,
        unowned=unowned,
        patterns=sum(map(is_pattern, registered)),
        unregistered=sum(is_unregistered(group, owner) for owner in owners),
        unparsable=sum(isinstance(doubt, Unparsable) for doubt in doubts),
        unreadable=sum(isinstance(doubt, Unreadable) for doubt in doubts),
        bad_offsets=group.bad_offsets,
        stored=bool(group.offsets),
        rebalanced=max((owner.znode.ctime for owner in owners if owner.znode), default=0),
    )
    severity, words = _status(numbers)
    return (
        numbers
        if severity is Severity.OK
        else msgspec.structs.replace(numbers, severity=severity, words=words)
    )


def is_pattern(registration: object) -> bool:
    """Whether a member names its topics by a pattern."""
    return isinstance(registration, Registration) and registration.pattern is not Pattern.STATIC


def is_unregistered(group: Group, owner: Owner) -> bool:
    """Whether an owner is a thread of no member (D39); what does not parse is another matter."""
    if not isinstance(owner.thread, str):
        return False
    consumer = consumer_ids.parse_thread(owner.thread).consumer
    return consumer is None or consumer not in group.members


def _status(numbers: GroupSummary) -> Status:
    """Unowned counts at once: whether a rebalance runs is another question, which the check waits for."""
    facts = [
        (Severity.CRITICAL, numbers.unowned, "unowned"),
        (Severity.WARNING, numbers.unparsable, "unparsable"),
        (Severity.WARNING, numbers.bad_offsets, _many("bad offset", numbers.bad_offsets)),
        (Severity.WARNING, numbers.unregistered, _many("owner", numbers.unregistered) + " not registered"),
        (Severity.UNKNOWN, numbers.unreadable, "unreadable"),
    ]
    statuses = [(severity, f"{count} {words}") for severity, count, words in facts if count]
    partial = partial_words(numbers)
    return summary.worst(statuses + ([(Severity.INFO, partial)] if partial else []))


def _many(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def partial_words(numbers: GroupSummary) -> str:
    """What of a whole group is missing, "" where nothing is (D44, D45)."""
    if not numbers.members:
        if numbers.owned:
            return "no members"
        return "only offsets" if numbers.stored else "empty"
    if numbers.owned:
        return ""
    return "no owners" if numbers.stored else "only members"


def _coverage(topic: Topic, owners: Mapping[str, Owner]) -> tuple[int, int]:
    """How many partitions a topic has, and how many of them have an owner.

    Counted from the owners: a 0.7 count may say any number. Owners name a partition "0", in 0.7 "broker-0".
    """
    assigned = topic.assignment.partitions if isinstance(topic.assignment, Assignment) else {}
    counts = {count.broker: count.count for count in topic.counts if isinstance(count.count, int)}
    owned = 0
    for part in owners:
        broker, hyphen, number = part.partition("-")
        if not hyphen:
            owned += paths.is_id(part) and int(part) in assigned
        elif paths.is_id(broker) and paths.is_id(number):
            owned += int(number) < counts.get(int(broker), 0)
    return len(assigned) + sum(counts.values()), owned


def _subscriptions(registered: list[Registration | Unparsable | Unreadable]) -> Iterator[str]:
    for registration in registered:
        if isinstance(registration, Registration) and registration.pattern is Pattern.STATIC:
            yield from registration.subscription
