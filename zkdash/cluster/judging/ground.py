"""What of the cluster a single topic is judged by."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Ground(msgspec.Struct, frozen=True):
    """`live` are the registered brokers. `controller_epoch` is None where it is not to be had. `racks` are
    those of the brokers that told one when they were last seen registered, so that a dead broker's is still
    known."""

    live: frozenset[int] = frozenset()
    controller_epoch: int | None = None
    racks: Mapping[int, str] = {}

    @property
    def shares(self) -> int:
        """Over how many racks replicas can be spread."""
        return len(set(self.racks.values()))
