"""What the last hour of a cluster looked like in numbers, for pictures of how they moved."""

from __future__ import annotations

import msgspec

EVERY_S = 10
MOST = 360  # an hour of them


class Numbers(msgspec.Struct, frozen=True, gc=False):
    """The numbers of a cluster at the epoch second `at`; None is what was not known then.

    `partitions`, `under_replicated` and `offline` are those of the state's `counts`. `lag` is how many
    messages all groups together have left to read. `leader_changes` counts the partitions that got another
    leader, or lost theirs, in the minute before. `transactions` is by how many a second the ensemble's zxid
    moved on since the sample before, as the answers to the heartbeats tell it: whatever anybody wrote, below
    other chroots too, and sessions that began or ended.
    """

    at: int
    partitions: int | None = None
    under_replicated: int | None = None
    offline: int | None = None
    lag: int | None = None
    leader_changes: int | None = None
    transactions: float | None = None


# Oldest first; a sample is missing where none could be taken, so that `at` tells the place in a picture.
Recent = tuple[Numbers, ...]
