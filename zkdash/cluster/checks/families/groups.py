"""Checks of the members and owners of groups whose consumers keep their state in ZooKeeper."""

from __future__ import annotations

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
from zkdash.cluster.evaluation.details import gathered, violation_of
from zkdash.cluster.model import group_summary
from zkdash.cluster.model.group_summary import Lookup
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import Kind


def _unowned(sight: CheckContext) -> Violations | Silence:
    """Each group for itself: somewhere in a large cluster there is always one that rebalances."""
    state = sight.state
    if not state.counts.groups:
        return NO_GROUPS
    return {name: Violation(count) for name, count in state.unowned.items()} or NOBODY


def _strangers(group: Group, _: Lookup) -> Violation | None:
    return violation_of(
        f"{topic} {part}: {owner.thread}"
        for topic, owners in group.owners.items()
        for part, owner in owners.items()
        if group_summary.is_unregistered(group, owner)
    )


def _others(sight: CheckContext) -> Violations | Silence:
    return sight.survey.others if sight.state.groups else NO_GROUPS


def _idle(sight: CheckContext) -> Violations | Silence:
    return sight.survey.idle if sight.state.groups else NO_GROUPS


def _registrations(sight: CheckContext) -> Violations | Silence:
    """Those that do not parse, or only in part: each member of the group stumbles over them too."""
    if not sight.state.groups:
        return NO_GROUPS
    problems = sight.state.problems.items()
    places = ((paths.locate(path), problem.reason) for path, problem in problems)
    return (
        gathered((place.name, f"{place.key}: {why}") for place, why in places if place.kind is Kind.MEMBER)
        or NOBODY
    )


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


CHECKS: tuple[Check, ...] = (
    Check(
        id="D39",
        severity=Severity.WARNING,
        about=About.GROUP,
        causes=violations_of_groups("D39"),
        of_group=_strangers,
        failing=lambda count, groups: (
            f"{in_groups(count, groups, 'partition', 'partitions')}"
            f" {_is(count)} owned by a consumer that is not a member"
        ),
        passing="Every owner is a member of its group",
        computed="An owner's znode names a thread of a consumer without a znode in the group's ids.",
        remedy="The owner's session dies within its timeout, or something else than Kafka's consumer writes"
        " there: look at the znode's session.",
        hold="no_controller",
    ),
    Check(
        id="D40",
        severity=Severity.CRITICAL,
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
        severity=Severity.WARNING,
        about=About.GROUP,
        causes=_others,
        failing=lambda count, groups: (
            f"{in_groups(count, groups, 'partition', 'partitions')}"
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
        severity=Severity.INFO,
        about=About.GROUP,
        causes=_idle,
        failing=lambda count, groups: (
            f"{in_groups(count, groups, 'consumer thread', 'consumer threads')}"
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
        id="D46",
        severity=Severity.CRITICAL,
        about=About.GROUP,
        causes=_registrations,
        failing=lambda count, groups: (
            f"{in_groups(count, groups, 'registration', 'registrations')}"
            f" {'breaks' if count == 1 else 'break'} every rebalance"
        ),
        passing="Every consumer's registration can be read by the others",
        computed="A member's registration does not parse, or asks for less than one thread: each member of"
        " the group reads all of them (kafka.consumer.TopicCount).",
        remedy="Stop that consumer; if it is gone, its znode vanishes with its session.",
    ),
)
