"""Many writes as few multis, none of them too large."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.plans.values import MARKER_BYTES, MOST_BYTES, MOST_OPERATIONS, Write


def in_multis(writes: list[Write], beside: int = 0) -> Iterator[list[Write]]:
    """The writes in their order, in portions that fit a multi each, with room for some operations more."""
    portion: list[Write] = []
    most, room = MOST_OPERATIONS - 1 - beside, MOST_BYTES - MARKER_BYTES * (1 + beside)
    size = 0
    for write in writes:
        if portion and (len(portion) == most or size + write.size > room):
            yield portion
            portion, size = [], 0
        portion.append(write)
        size += write.size
    if portion:
        yield portion
