"""What of the cluster a single topic is judged by."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Context(msgspec.Struct, frozen=True):
    """`live` are the registered brokers. `controller_epoch` is None where it is not to be had. `racks` are
    those of the registered brokers that tell one. `min_isr` is min.insync.replicas of topics that have none
    of their own."""

    live: frozenset[int] = frozenset()
    controller_epoch: int | None = None
    racks: Mapping[int, str] = {}
    min_isr: int = 1

    crowded: dict[tuple[int, ...], bool] = {}  # what `is_crowded` found so far: few lists are different ones

    def is_crowded(self, replicas: tuple[int, ...]) -> bool:
        """Whether replicas share racks though there are enough; nothing is said where a rack is not known."""
        found = self.crowded.get(replicas)
        if found is None:
            racks = [self.racks.get(one) for one in replicas]
            enough = len(replicas) <= len(set(self.racks.values()))
            found = self.crowded[replicas] = None not in racks and len(set(racks)) < len(replicas) and enough
        return found
