"""A change as the recorder keeps it until it is written."""

from __future__ import annotations

from typing import NamedTuple

from zkdash.znode import Znode


class Seen(NamedTuple):
    """A change: its type, where, what was read (None of what is gone), its zxid or bounds, its time."""

    type: str
    path: str
    znode: Znode | None
    zxid: int | None
    after: int
    upto: int
    time: int
