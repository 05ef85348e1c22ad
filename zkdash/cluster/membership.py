"""A consumer group put together from the one before and what arrived for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, TypeVar

from zkdash.cluster.arrivals import Arrival
from zkdash.cluster.assembly import readable
from zkdash.cluster.groups import Group, GroupSummary, Member, Offset, Owner
from zkdash.cluster.reading import Reader
from zkdash.cluster.topics import Topic
from zkdash.kafka import paths
from zkdash.kafka.layouts import consumers
from zkdash.kafka.paths import Kind
from zkdash.kafka.values import Assignment, Pattern, Registration

V = TypeVar("V")
ByPart = Mapping[str, Mapping[str, V]]


class Lookup(Protocol):
    """Finds a topic by name."""

    def get(self, name: str, /) -> Topic | None: ...


def is_empty(group: Group) -> bool:
    """Whether nothing of the group is left."""
    return not (group.exists or group.members or group.owners or group.offsets)


def assemble(before: Group, arrivals: list[Arrival], reader: Reader) -> Group:
    """The group after a batch."""
    exists = before.exists
    sorted_: dict[Kind, list[Arrival]] = {}
    for arrival in arrivals:
        if arrival.kind == Kind.GROUP:
            exists = arrival.read is not None
        else:
            sorted_.setdefault(arrival.kind, []).append(arrival)
    return Group(
        before.name,
        _members(before.members, sorted_.get(Kind.MEMBER, []), reader),
        _claims(before.owners, sorted_.get(Kind.OWNER, []), lambda arrival: _owner(arrival, reader)),
        _claims(before.offsets, sorted_.get(Kind.OFFSET, []), lambda arrival: _offset(arrival, reader)),
        exists,
    )


def summarise(group: Group, topics: Lookup) -> GroupSummary:
    """Sum a group up; `topics` finds any of the cluster's."""
    subscribed = frozenset(_subscriptions(group))
    expected = unowned = 0
    for name in subscribed:
        topic = topics.get(name)
        if topic is not None and not topic.deleting:
            size, owned = _coverage(topic, group.owners.get(name, {}))
            expected += size
            unowned += size - owned
    return GroupSummary(
        name=group.name,
        members=len(group.members),
        topics=subscribed.union(group.owners, group.offsets),
        subscribed=subscribed,
        owned=sum(map(len, group.owners.values())),
        expected=expected,
        unowned=unowned,
    )


def claims_alike(one: Group, other: Group) -> bool:
    """Whether two moments of a group differ at most in the values of offsets, which no number shows."""
    return (
        one.members is other.members
        and one.owners is other.owners
        and one.offsets.keys() == other.offsets.keys()
    )


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


def _subscriptions(group: Group) -> Iterator[str]:
    for member in group.members.values():
        registration = member.registration
        if isinstance(registration, Registration) and registration.pattern is Pattern.STATIC:
            yield from registration.subscription


def _members(before: Mapping[str, Member], arrivals: list[Arrival], reader: Reader) -> Mapping[str, Member]:
    if not arrivals:
        return before
    after = dict(before)
    for arrival in arrivals:
        registration = reader.value(arrival, consumers.parse_registration)
        if registration is None:
            after.pop(arrival.key, None)
        else:
            after[arrival.key] = Member(arrival.key, registration, readable(arrival.read))
    return after


def _owner(arrival: Arrival, reader: Reader) -> Owner | None:
    thread = reader.value(arrival, consumers.parse_owner)
    return None if thread is None else Owner(thread, readable(arrival.read))


def _offset(arrival: Arrival, reader: Reader) -> Offset | None:
    value = reader.value(arrival, consumers.parse_offset)
    return None if value is None else Offset(value, readable(arrival.read))


def _claims(before: ByPart[V], arrivals: list[Arrival], read: Callable[[Arrival], V | None]) -> ByPart[V]:
    """Owners or offsets: only the topics that something arrived for are copied."""
    if not arrivals:
        return before
    copied: dict[str, dict[str, V]] = {}
    for arrival in arrivals:
        parts = copied.get(arrival.key)
        if parts is None:
            parts = copied[arrival.key] = dict(before.get(arrival.key, {}))
        value = read(arrival)
        if value is None:
            parts.pop(arrival.part, None)
        else:
            parts[arrival.part] = value
    after = {**before, **copied}
    for topic in [topic for topic, parts in copied.items() if not parts]:
        del after[topic]
    return after
