"""How far consumer groups are behind the ends of the logs: as it was sampled last, in messages.

There are thousands of these values and none is part of a cycle, so that the collector need not follow them.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import NamedTuple

import immutables
import msgspec

from zkdash.cluster.model.brokers import out_of_range
from zkdash.cluster.model.brokers.out_of_range import OutOfRange

NOT_YET = "not sampled yet"
NOTHING_COMMITTED = "no offset was committed"


class Worst(NamedTuple):
    """The partition of which most is left to read; `partition` is its key."""

    lag: int
    topic: str
    partition: str


class TopicLag(msgspec.Struct, frozen=True, gc=False):
    """What a group has left to read of one topic, from the furthest of its offsets.

    `lag` is the sum over partitions, None where one of them cannot be told, and `reason` then says why;
    `least` is the sum of those that can. An offset beyond the log's end leaves nothing to read. `as_of` is
    the epoch second of the oldest answer that was needed, None where nobody answered. `outside` is the number
    of its offsets that lie outside of the log, `furthest` are the furthest of them.
    """

    lag: int | None
    least: int
    worst: Worst | None
    as_of: float | None
    reason: str = ""
    outside: int = 0
    furthest: tuple[OutOfRange, ...] = ()


class GroupLag(msgspec.Struct, frozen=True, gc=False):
    """What a group has left to read in all: the fields mean what those of TopicLag do, over `topics`.

    `trend` are the last values of `lag`, oldest first, half a minute and more apart.
    """

    lag: int | None
    least: int = 0
    worst: Worst | None = None
    as_of: float | None = None
    reason: str = ""
    topics: Mapping[str, TopicLag] = {}
    trend: tuple[int | None, ...] = ()
    outside: int = 0
    furthest: tuple[OutOfRange, ...] = ()


class TopicConsumers(msgspec.Struct, frozen=True, gc=False):
    """The groups that committed an offset of a topic, and how many of them are `behind`.

    `least` is what all have left to read as far as it is known, `as_of` the epoch second of the oldest answer
    of that, None where nothing is known.
    """

    by_group: Mapping[str, TopicLag]
    behind: int
    least: int
    as_of: float | None

    def furthest(self, most: int) -> list[tuple[str, int]]:
        """Groups that are behind, with their lag, the furthest first."""
        behind = ((group, lag.least) for group, lag in self.by_group.items() if lag.least)
        return heapq.nsmallest(most, behind, key=lambda lag: (-lag[1], lag[0]))


class Lags(msgspec.Struct, frozen=True):
    """The lags of one cluster's groups, and of its topics the groups that consume them.

    `total` is what all groups have left to read, as far as it is known: None where nothing is.
    `otherwise` is why nothing is known of a group that is not among them.
    """

    groups: immutables.Map[str, GroupLag] = immutables.Map()
    topics: immutables.Map[str, TopicConsumers] = immutables.Map()
    total: int | None = None
    otherwise: str = NOT_YET

    def of_group(self, name: str) -> GroupLag:
        """The lag of a group, unknown with its reason where nobody told."""
        lag = self.groups.get(name)
        return GroupLag(None, reason=self.otherwise) if lag is None else lag


NONE = Lags()


def sum_up(topics: Mapping[str, TopicLag], trend: tuple[int | None, ...] = ()) -> GroupLag:
    """A group's lag from those of its topics."""
    if not topics:
        return GroupLag(None, reason=NOTHING_COMMITTED, trend=trend)
    unknown = next((topic.reason for topic in topics.values() if topic.lag is None), "")
    least = sum(topic.least for topic in topics.values())
    return GroupLag(
        lag=None if unknown else least,
        least=least,
        worst=max((topic.worst for topic in topics.values() if topic.worst), default=None),
        as_of=min((topic.as_of for topic in topics.values() if topic.as_of is not None), default=None),
        reason=unknown,
        topics=topics,
        trend=trend,
        outside=sum(topic.outside for topic in topics.values()),
        furthest=out_of_range.furthest(entry for topic in topics.values() for entry in topic.furthest),
    )


def direction(trend: tuple[int | None, ...]) -> str:
    """Where a lag is going: "rising", "falling" or "steady"; "" where too little is known of it."""
    values = [value for value in trend if value is not None]
    if len(values) < _FEW:
        return ""
    step = values[-1] - values[0]
    if abs(step) <= max(values) * _NOISE:
        return "steady"
    return "rising" if step > 0 else "falling"


_FEW = 3
_NOISE = 0.1
