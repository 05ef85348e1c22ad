"""Many details in few words."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_TOLD = 5


def told_of(told: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    rest = len(told) - _MOST_TOLD
    return "; ".join([*told[:_MOST_TOLD], *([f"and {rest} more"] if rest > 0 else [])])
