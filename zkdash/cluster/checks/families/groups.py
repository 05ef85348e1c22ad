"""Checks of groups whose consumers keep their state in ZooKeeper."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zkdash.cluster.checks import offers
from zkdash.cluster.checks.check import About, Check, CheckContext, number, violations_of
from zkdash.cluster.evaluation.details import gathered, violation_of
from zkdash.cluster.model import group_summary
from zkdash.cluster.model.group_summary import Lookup
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment
from zkdash.kafka.znode_kinds import Kind

_RARE_S = 60.0  # what looks at all offsets is looked at so often


def _unowned(sight: CheckContext) -> Violations | None:
    """Each group for itself: somewhere in a large cluster there is always one that rebalances."""
    state = sight.state
    if not state.counts.groups:
        return None
    return {name: Violation(count) for name, count in state.unowned.items()} or NOBODY


def _blamed(check: str) -> Callable[[CheckContext], Violations | None]:
    """As `blamed`, where there is any group at all."""
    found = violations_of(check)

    def causes(sight: CheckContext) -> Violations | None:
        return found(sight) if sight.state.groups else None

    return causes


def _strangers(group: Group, _: Lookup) -> Violation | None:
    return violation_of(
        f"{topic} {part}: {owner.thread}"
        for topic, owners in group.owners.items()
        for part, owner in owners.items()
        if group_summary.is_unregistered(group, owner)
    )


def _lost(group: Group, topics: Lookup) -> Violation | None:
    """Owners and offsets of partitions that are not there."""
    return violation_of(_absent(group, topics))


def _absent(group: Group, topics: Lookup) -> Iterator[str]:
    for name in {**group.owners, **group.offsets}:
        topic = topics.get(name)
        parts = {**group.owners.get(name, {}), **group.offsets.get(name, {})}
        if topic is None:
            yield f"{name} is not there"
            continue
        wrong = [part for part in parts if not _is_there(topic, part)]
        if wrong:
            yield f"{name}: {', '.join(sorted(wrong)[:_MOST_PARTS])}"


_MOST_PARTS = 5


def _is_there(topic: Topic, part: str) -> bool:
    """Whether a topic has a partition, "0" or 0.7's "broker-0"; one whose size is not known may have any."""
    broker, hyphen, number = part.partition("-")
    if not hyphen:
        held = topic.assignment
        return not isinstance(held, Assignment) or (paths.is_id(part) and int(part) in held.partitions)
    if not (paths.is_id(broker) and paths.is_id(number)):
        return False
    counts = [count.count for count in topic.counts if count.broker == int(broker)]
    # A broker of 0.7 that is down takes its partitions along: they come back with it.
    return not counts or not isinstance(counts[0], int) or int(number) < counts[0]


def _abandoned(group: Group, _: Lookup) -> Violation | None:
    return Violation(since=_last_commit(group)) if group.offsets and not group.members else None


def _last_commit(group: Group) -> float | None:
    """When the group committed last, in epoch seconds, None where no offset is readable."""
    times = [one.znode.mtime for parts in group.offsets.values() for one in parts.values() if one.znode]
    return max(times) / 1000 if times else None


def _empty(group: Group, _: Lookup) -> Violation | None:
    return None if group.members or group.offsets or group.owners else Violation()


def _bad_offsets(group: Group, _: Lookup) -> Violation | None:
    return Violation(group.bad_offsets) if group.bad_offsets else None


def _others(sight: CheckContext) -> Violations | None:
    return sight.survey.others if sight.state.groups else None


def _idle(sight: CheckContext) -> Violations | None:
    return sight.survey.idle if sight.state.groups else None


def _frozen(sight: CheckContext) -> Violations | None:
    """Groups with members whose newest commit is old. Of a group that commits, few offsets are looked at."""
    if not sight.state.groups:
        return None
    limit = int((sight.now - sight.thresholds.frozen) * 1000)
    return {
        name: Violation(since=newest / 1000)
        for name, group in sight.state.groups.items()
        if group.members and group.offsets and (newest := _newest(group, limit)) is not None
    } or NOBODY


def _newest(group: Group, limit: int) -> int | None:
    """The newest mtime of a group's offsets in epoch ms; None as soon as one is newer than the limit."""
    newest = 0
    for parts in group.offsets.values():
        for offset in parts.values():
            if offset.znode is not None:
                mtime = offset.znode.mtime
                if mtime > limit:
                    return None
                newest = max(newest, mtime)
    return newest or None


def _registrations(sight: CheckContext) -> Violations | None:
    """Those that do not parse, or only in part: each member of the group stumbles over them too."""
    if not sight.state.groups:
        return None
    problems = sight.state.problems.items()
    found = ((paths.locate(path), problem.reason) for path, problem in problems)
    return (
        gathered((place.name, f"{place.key}: {why}") for place, why in found if place.kind is Kind.MEMBER)
        or NOBODY
    )


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _groups(count: int, groups: int, one: str, many: str) -> str:
    """`2 owners in 1 group`."""
    return f"{number(count, one, many)} in {number(groups, 'group', 'groups')}"


CHECKS: tuple[Check, ...] = (
    Check(
        id="D39",
        tone=Tone.WARNING,
        about=About.GROUP,
        causes=_blamed("D39"),
        of_group=_strangers,
        failing=lambda count, groups: (
            f"{_groups(count, groups, 'partition', 'partitions')}"
            f" {_is(count)} owned by somebody who is no member"
        ),
        passing="Every owner is a member of its group",
        computed="An owner's znode names a thread of a consumer without a znode in the group's ids.",
        remedy="The owner's session dies within its timeout, or something else than Kafka's consumer writes"
        " there: look at the znode's session.",
        hold="no_controller",
    ),
    Check(
        id="D40",
        tone=Tone.CRITICAL,
        about=About.GROUP,
        causes=_unowned,
        failing=lambda count, groups: (
            f"{number(count, 'partition has', 'partitions have')} no owner in"
            f" {number(groups, 'group', 'groups')} with consumers"
        ),
        passing="Every partition that a group of ZooKeeper consumers subscribes to by name has an owner",
        computed="A topic that a member of the group subscribes to by name has partitions without an owner"
        " znode for longer than four rebalances of the old consumer take.",
        remedy="The last rebalance failed: restart the group's consumers.",
        page="groups",
        query="q=is%3Aunowned",
        hold="unowned",
    ),
    Check(
        id="D41",
        tone=Tone.WARNING,
        about=About.GROUP,
        causes=_others,
        failing=lambda count, groups: (
            f"{_groups(count, groups, 'partition', 'partitions')}"
            f" {_is(count)} owned by another member than planned"
        ),
        passing="Groups own what Kafka's rules of assignment give them",
        computed="The owners follow neither range nor round robin, as the group's members and topics are"
        " (kafka.consumer.PartitionAssignor).",
        remedy="Members may be of different releases, or have different strategies: make them alike and"
        " restart them.",
        hold="unowned",
    ),
    Check(
        id="D42",
        tone=Tone.INFO,
        about=About.GROUP,
        causes=_idle,
        failing=lambda count, groups: (
            f"{_groups(count, groups, 'consumer thread', 'consumer threads')}"
            f" {'has' if count == 1 else 'have'} nothing to do"
        ),
        passing="Every consumer thread has a partition",
        computed="The plan of the group's rule leaves threads without a partition: there are more threads"
        " than partitions.",
        remedy="Ask for fewer streams, or add partitions.",
        deeds=("add-partitions",),
        offer=offers.wider_topic,
        hold="unowned",
    ),
    Check(
        id="D43",
        tone=Tone.INFO,
        about=About.GROUP,
        causes=_blamed("D43"),
        of_group=_lost,
        failing=lambda _, groups: (
            f"{number(groups, 'group keeps', 'groups keep')} owners or offsets of what is not there"
        ),
        passing="Owners and offsets are of partitions that are there",
        computed="A group has owners or offsets of a topic without a znode, or of a partition that is not"
        " assigned.",
        remedy="A leftover of a deleted topic: a topic of that name would be read from these offsets on.",
        deeds=("delete-group",),
        offer=offers.lost_topic,
    ),
    Check(
        id="D44",
        tone=Tone.INFO,
        about=About.GROUP,
        causes=_blamed("D44"),
        of_group=_abandoned,
        failing=lambda _, groups: (
            f"{number(groups, 'group has', 'groups have')} offsets, but no members for long"
        ),
        passing="Every group with offsets has members, or had some lately",
        computed="The group has offsets and no members, and its newest offset was written over a week ago.",
        remedy="Delete the group if nobody comes back to it.",
        deeds=("delete-group",),
        offer=offers.each("delete-group", "group"),
        hold="abandoned",
    ),
    Check(
        id="D45",
        tone=Tone.INFO,
        about=About.GROUP,
        causes=_blamed("D45"),
        of_group=_empty,
        failing=lambda _, groups: f"{number(groups, 'group is', 'groups are')} empty",
        passing="No group is empty",
        computed="/consumers has a child without members, owners and offsets.",
        remedy="Delete it: nothing is lost.",
        deeds=("delete-group",),
        offer=offers.each("delete-group", "group"),
        hold="stateless",
    ),
    Check(
        id="D46",
        tone=Tone.CRITICAL,
        about=About.GROUP,
        causes=_registrations,
        failing=lambda count, groups: (
            f"{_groups(count, groups, 'registration', 'registrations')}"
            f" {'breaks' if count == 1 else 'break'} every rebalance"
        ),
        passing="Every consumer's registration can be read by the others",
        computed="A member's registration does not parse, or asks for less than one thread: each member of"
        " the group reads all of them (kafka.consumer.TopicCount).",
        remedy="Stop that consumer; if it is gone, its znode vanishes with its session.",
    ),
    Check(
        id="D47",
        tone=Tone.WARNING,
        about=About.GROUP,
        causes=_blamed("D47"),
        of_group=_bad_offsets,
        failing=lambda count, groups: f"{_groups(count, groups, 'offset', 'offsets')} cannot be gone on from",
        passing="Every offset in ZooKeeper is a number that a consumer can go on from",
        computed="The data of an offset's znode is no number, or a negative one.",
        remedy="Set the offset anew while the group's consumers are stopped.",
        deeds=("reset-offsets",),
        offer=offers.bad_offsets,
    ),
    Check(
        id="D48",
        tone=Tone.INFO,
        about=About.GROUP,
        causes=_frozen,
        failing=lambda _, groups: (
            f"{number(groups, 'group with members has', 'groups with members have')} not committed for long"
        ),
        passing="Groups with members commit their offsets",
        computed="The group has members, and none of its offsets changed for a quarter of an hour. Kafka's"
        " old consumer leaves an offset alone that did not move.",
        remedy="It is idle, stalled, or keeps its offsets in Kafka since a migration: compare with the log"
        " ends.",
        every=_RARE_S,
        limits=("frozen",),
    ),
)
