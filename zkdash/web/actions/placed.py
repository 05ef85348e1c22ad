"""Where a plan puts replicas, topic by topic: the placement before and after it, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.live.departures import Departures
from zkdash.web.frame.panels import placements
from zkdash.web.frame.panels.placements import Picture

# The table beside it has all topics that are shown.
_MOST_TOPICS: Final = 3


class Shifted(Protocol):
    """A partition that gets other replicas; `before` is None where nobody can tell it any more."""

    @property
    def topic(self) -> str: ...

    @property
    def partition(self) -> int: ...

    @property
    def before(self) -> tuple[int, ...] | None: ...

    @property
    def after(self) -> tuple[int, ...]: ...


class Placed(msgspec.Struct, frozen=True):
    """The partitions of one topic that get other replicas."""

    topic: str
    before: Picture
    after: Picture


def of(shifts: Iterable[Shifted], state: ClusterState, departed: Departures) -> tuple[Placed, ...]:
    """The pictures of the first topics, of the partitions of which it is known where they are."""
    before: dict[str, dict[int, tuple[int, ...]]] = {}
    after: dict[str, dict[int, tuple[int, ...]]] = {}
    for shift in shifts:
        if shift.before is not None and (shift.topic in before or len(before) < _MOST_TOPICS):
            before.setdefault(shift.topic, {})[shift.partition] = shift.before
            after.setdefault(shift.topic, {})[shift.partition] = shift.after
    return tuple(_placed(topic, before[topic], after[topic], state, departed) for topic in before)


def _placed(
    topic: str,
    before: Mapping[int, tuple[int, ...]],
    after: Mapping[int, tuple[int, ...]],
    state: ClusterState,
    departed: Departures,
) -> Placed:
    pictures = placements.before_and_after(before, after, state, departed)
    return Placed(topic, *map(placements.picture, pictures))
