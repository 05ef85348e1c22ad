"""What of the cluster a single topic is judged by."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Ground(msgspec.Struct, frozen=True):
    """`controller_epoch` is None where it is not to be had. `racks` are those of the brokers that told one
    when they were last seen registered, so that a dead broker's is still known."""

    controller_epoch: int | None = None
    racks: Mapping[int, str] = {}
