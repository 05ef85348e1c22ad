"""Checks of what groups keep in ZooKeeper: offsets, and what is left of groups and topics that are gone."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.checks import offers
from zkdash.cluster.checks.check import (
    NO_GROUPS,
    About,
    Check,
    CheckContext,
    Silence,
    in_groups,
    number,
    violations_of_groups,
)
from zkdash.cluster.evaluation.details import violation_of
from zkdash.cluster.model.group_summary import Lookup
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment

_RARE_S = 60.0  # what looks at all offsets is looked at so often
_MOST_PARTS = 5


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


def _is_there(topic: Topic, part: str) -> bool:
    """Whether a topic has a partition, "0" or 0.7's "broker-0"; one whose size is not known may have any."""
    broker, hyphen, number = part.partition("-")
    if not hyphen:
        assignment = topic.assignment
        return not isinstance(assignment, Assignment) or (
            paths.is_id(part) and int(part) in assignment.partitions
        )
    if not (paths.is_id(broker) and paths.is_id(number)):
        return False
    counts = [count.count for count in topic.counts if count.broker == int(broker)]
    # A broker of 0.7 that is down takes its partitions along: they come back with it.
    return not counts or not isinstance(counts[0], int) or int(number) < counts[0]


def _abandoned(group: Group, _: Lookup) -> Violation | None:
    return Violation(since=_last_commit(group)) if group.offsets and not group.members else None


def _last_commit(group: Group) -> float | None:
    """When the group committed last, in epoch seconds, None where no offset is readable."""
    times = [
        offset.znode.mtime for parts in group.offsets.values() for offset in parts.values() if offset.znode
    ]
    return max(times) / 1000 if times else None


def _empty(group: Group, _: Lookup) -> Violation | None:
    return None if group.members or group.offsets or group.owners else Violation()


def _bad_offsets(group: Group, _: Lookup) -> Violation | None:
    return Violation(group.bad_offsets) if group.bad_offsets else None


def _frozen(sight: CheckContext) -> Violations | Silence:
    """Groups with members whose newest commit is old. Of a group that commits, few offsets are looked at."""
    if not sight.state.groups:
        return NO_GROUPS
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


CHECKS: tuple[Check, ...] = (
    Check(
        id="D43",
        severity=Severity.INFO,
        about=About.GROUP,
        causes=violations_of_groups("D43"),
        of_group=_lost,
        failing=lambda _, groups: (
            f"{number(groups, 'group keeps', 'groups keep')} owners or offsets of what does not exist"
        ),
        passing="Owners and offsets are of existing partitions",
        computed="A group has owners or offsets of a topic without a znode, or of a partition that is not"
        " assigned.",
        remedy="A leftover of a deleted topic: a topic of that name would be read from these offsets on.",
        deeds=("delete-group",),
        offer=offers.lost_topic,
    ),
    Check(
        id="D44",
        severity=Severity.INFO,
        about=About.GROUP,
        causes=violations_of_groups("D44"),
        of_group=_abandoned,
        failing=lambda _, groups: (
            f"{number(groups, 'group has', 'groups have')} offsets, but no members for a long time"
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
        severity=Severity.INFO,
        about=About.GROUP,
        causes=violations_of_groups("D45"),
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
        id="D47",
        severity=Severity.WARNING,
        about=About.GROUP,
        causes=violations_of_groups("D47"),
        of_group=_bad_offsets,
        failing=lambda count, groups: f"{in_groups(count, groups, 'offset', 'offsets')} are not valid",
        passing="Every offset in ZooKeeper is a valid number",
        computed="The data of an offset's znode is no number, or a negative one.",
        remedy="Set the offset again while the group's consumers are stopped.",
        deeds=("reset-offsets",),
        offer=offers.bad_offsets,
    ),
    Check(
        id="D48",
        severity=Severity.INFO,
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
