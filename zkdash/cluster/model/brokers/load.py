"""What one broker carries."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.severity import Severity


class Load(msgspec.Struct, frozen=True):
    """What is assigned to one broker or led by it, whether it is registered or not.

    `replicas` and `leaders` are partitions of 0.8+. Of those that prefer it (its id stands first in the
    assignment), have a state and do not move, `preferred`, it does not lead `unled`. `under_replicated` are
    those in whose ISR it is missing. `severities` counts the partitions that it holds or leads by status, in
    the order of Severity. `partitions_07` are what it says that it holds of `topics_07`, as far as the counts
    parse. Topics that are being deleted count in `replicas`, `leaders` and `severities` only.
    """

    leaders: int = 0
    replicas: int = 0
    preferred: int = 0
    unled: int = 0
    under_replicated: int = 0
    topics_07: int = 0
    partitions_07: int = 0
    severities: tuple[int, ...] = (0,) * len(Severity)

    @property
    def listed(self) -> int:
        """The partitions of 0.8+ that it holds or leads."""
        return sum(self.severities)


NOTHING = Load()
