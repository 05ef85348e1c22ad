"""What is known of a value that may be absent, refused or unparsable; and a znode as a batch brings it."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from zkdash.kafka.values import Unparsable
from zkdash.znode import Unreadable, Znode

T = TypeVar("T")
Known: TypeAlias = T | Unparsable | Unreadable | None
Read: TypeAlias = Znode | Unreadable | None  # None: the znode is gone


def percent(part: int, whole: int) -> float | None:
    """A share rounded down to a tenth, so that 100 means all; None of nothing."""
    return part * 1000 // whole / 10 if whole else None
