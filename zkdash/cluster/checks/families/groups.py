"""Checks of groups whose consumers keep their state in ZooKeeper."""

from __future__ import annotations

from zkdash.cluster.blame import NOBODY, Cause, Causes
from zkdash.cluster.checks.check import About, Check, Sight, blamed, number
from zkdash.cluster.tone import Tone


def _unowned(sight: Sight) -> Causes | None:
    """Each group for itself: somewhere in a large cluster there is always one that rebalances."""
    state = sight.state
    if not state.counts.groups:
        return None
    return {name: Cause(count) for name, count in state.unowned.items()} or NOBODY


CHECKS: tuple[Check, ...] = (
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
        thresholds=("unowned",),
        hold=lambda thresholds: thresholds.unowned,
    ),
    Check(
        id="D47",
        tone=Tone.WARNING,
        about=About.GROUP,
        causes=blamed("D47"),
        failing=lambda count, groups: (
            f"{number(count, 'offset', 'offsets')} of {number(groups, 'group', 'groups')}"
            " cannot be gone on from"
        ),
        passing="Every offset in ZooKeeper is a number that a consumer can go on from",
        computed="The data of an offset's znode is no number, or a negative one.",
        remedy="Set the offset anew while the group's consumers are stopped.",
        deed="reset-offsets",
    ),
)
