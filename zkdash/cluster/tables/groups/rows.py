"""What the table of groups shows: one row of plain values for each group, named as JSON names them."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.groups import GroupSummary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.tone import Tone


class GroupRow(msgspec.Struct, frozen=True):
    """One group.

    `status` is its tone, `words` say why. `topics` counts those that it has owners or offsets on, or
    subscribes to by name. `owned` counts owner znodes. `expected` and `unowned` are about the topics that are
    subscribed to by name: None where members subscribe by a pattern and nothing that has a name lacks an
    owner. `in_zookeeper` tells whether any offset of the group is in ZooKeeper. `rebalanced` is epoch
    milliseconds, None where nothing is owned.
    """

    status: Tone
    words: str
    name: str
    members: int
    topics: int
    owned: int
    expected: int | None
    unowned: int | None
    in_zookeeper: bool
    rebalanced: int | None


def group(state: ClusterState, name: str) -> GroupRow:
    """The row of a group that is there."""
    numbers = state.group_summaries[name]
    return GroupRow(
        status=numbers.tone,
        words=numbers.words,
        name=name,
        members=numbers.members,
        topics=len(numbers.topics),
        owned=numbers.owned,
        expected=expected(numbers),
        unowned=unowned(numbers),
        in_zookeeper=numbers.stored,
        rebalanced=numbers.rebalanced or None,
    )


def expected(numbers: GroupSummary) -> int | None:
    """How many partitions the group should own in all; None where that takes resolving a pattern."""
    return None if numbers.patterns else numbers.expected


def unowned(numbers: GroupSummary) -> int | None:
    """How many of them have no owner; with patterns at least those that are subscribed to by name."""
    return None if numbers.patterns and not numbers.unowned else numbers.unowned
