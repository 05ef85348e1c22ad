"""What a group's assignment is computed from: its registrations and the cluster's topics."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.cluster.model.groups import Group, Member
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.rebalance.values import AssignmentInputs
from zkdash.kafka.assignment.assignment_context import AssignmentContext
from zkdash.kafka.consumers import subscriptions
from zkdash.kafka.consumers.wildcards import topic_filter
from zkdash.kafka.values import Assignment, Layout, Registration, Unparsable
from zkdash.znode import Unreadable

# A 0.7 count may say any number. More than this in one group is not planned.
MOST_PARTITIONS = 50_000

_DIALECT = "topics of wildcards are matched as Java's regular expressions match, else not at all"


def of_group(state: ClusterState, group: Group) -> AssignmentInputs:
    """The inputs of the group's assignment now."""
    registrations = {
        member.id: member.registration
        for member in group.members.values()
        if isinstance(member.registration, Registration)
    }
    resolved = subscriptions.resolve(registrations, state.topics.keys())
    wanted = dict.fromkeys(topic for topics in resolved.members.values() for topic in topics)
    partitions, open_topics = _partitions(state, wanted)
    for topic in resolved.undetermined:
        open_topics[topic] = "a wildcard may allow it: its name is not printable ASCII"
    return AssignmentInputs(
        AssignmentContext(resolved.members, partitions),
        blocked=tuple(_blocking(group.members)),
        unclear=(*_hidden(group.members), *(f"{member}: {why}" for member, why in resolved.unclear.items())),
        open_topics=open_topics,
        assumptions=(topic_filter.ASSUMPTION, _DIALECT) if resolved.has_wildcards else (),
        is_07=_is_07(registrations, partitions),
    )


def keys(topic: Topic) -> tuple[str, ...] | str:
    """A topic's partitions as owners are keyed, sorted, or a sentence why they cannot be told."""
    if topic.layout is Layout.MIXED:
        return "the topic holds both layouts, 0.7 and 0.8+"
    if topic.layout is Layout.V07:
        return _keys_07(topic)
    if isinstance(topic.assignment, Unparsable | Unreadable):
        return f"its assignment cannot be read: {topic.assignment.reason}"
    if isinstance(topic.assignment, Assignment):
        return tuple(map(str, sorted(topic.assignment.partitions)))
    return ()


def _keys_07(topic: Topic) -> tuple[str, ...] | str:
    counts = {count.broker: count.count for count in topic.counts}
    for broker, count in counts.items():
        if isinstance(count, Unparsable | Unreadable):
            return f"broker {broker}'s count cannot be read: {count.reason}"
        if count > MOST_PARTITIONS:
            return f"broker {broker} says that it holds {count} partitions"
    return tuple(
        sorted(
            f"{broker}-{part}"
            for broker, count in counts.items()
            if isinstance(count, int)
            for part in range(count)
        )
    )


def _partitions(
    state: ClusterState, wanted: Mapping[str, None]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Partition keys by topic, and why by topic where they cannot be told. A topic may be absent."""
    partitions: dict[str, tuple[str, ...]] = {}
    open_topics: dict[str, str] = {}
    total = 0
    for name in wanted:
        topic = state.topics.get(name)
        keys_or_why = () if topic is None else keys(topic)
        if not isinstance(keys_or_why, str) and total + len(keys_or_why) > MOST_PARTITIONS:
            keys_or_why = f"the group reads over {MOST_PARTITIONS} partitions, which are not planned"
        if isinstance(keys_or_why, str):
            open_topics[name] = keys_or_why
        else:
            partitions[name] = keys_or_why
            total += len(keys_or_why)
    return partitions, open_topics


def _blocking(members: Mapping[str, Member]) -> list[str]:
    return [
        f"the registration of {member.id} does not parse ({member.registration.reason}), "
        "which makes the rebalance of every member fail"
        for member in members.values()
        if isinstance(member.registration, Unparsable)
    ]


def _hidden(members: Mapping[str, Member]) -> list[str]:
    return [
        f"the registration of {member.id} cannot be read: {member.registration.reason}"
        for member in members.values()
        if isinstance(member.registration, Unreadable)
    ]


def _is_07(registrations: Mapping[str, Registration], partitions: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the rules of 0.7 apply: its members say so, else its topics."""
    if registrations:
        return all(registration.layout is Layout.V07 for registration in registrations.values())
    return any("-" in key for topic in partitions.values() for key in topic)
