"""What the last hour of a cluster looked like in numbers, for pictures of how they moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

EVERY_S = 10
MOST = 360  # an hour of them


class Numbers(msgspec.Struct, frozen=True, gc=False):
    """The numbers of a cluster at the epoch second `at`; None is what was not known then.

    `partitions`, `under_replicated` and `offline` are those of the state's `counts`. `lag` is how many
    messages all groups together have left to read. `leader_changes` counts the partitions that got another
    leader, or lost theirs, in the minute before. `transactions` is by how many a second the ensemble's zxid
    moved on since the sample before, as the answers to the heartbeats tell it: whatever anybody wrote, below
    other chroots too, and sessions that began or ended. `latencies` are those that servers of the ensemble
    told last, each by its address, in milliseconds: the mean since it began or was reset.
    """

    at: int
    partitions: int | None = None
    under_replicated: int | None = None
    offline: int | None = None
    lag: int | None = None
    leader_changes: int | None = None
    transactions: float | None = None
    latencies: tuple[tuple[str, float], ...] = ()


# Oldest first; a sample is missing where none could be taken, so that `at` tells the place in a picture.
Recent = tuple[Numbers, ...]

# A picture of the last hour has a step a minute.
_STEPS: Final = 60


def by_minute(recent: Recent, read: Callable[[Numbers], float | None]) -> tuple[float | None, ...]:
    """The highest of each minute of the hour that ends with the newest sample; None where none is known."""
    if not recent:
        return ()
    last = recent[-1].at // 60
    steps: list[float | None] = [None] * _STEPS
    for sample in recent:
        place, value = _STEPS - 1 - (last - sample.at // 60), read(sample)
        if place >= 0 and value is not None:
            steps[place] = max(value, steps[place] or 0)
    return tuple(steps)
