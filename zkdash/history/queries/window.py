"""A stretch of time in equal steps, and which of it the tables know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from zkdash.history.store.tables import Tables
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS

# Whole fractions of a day, so that steps begin at the full hour and at midnight (UTC).
STEPS_MS: Final = (
    MINUTE_MS,
    5 * MINUTE_MS,
    15 * MINUTE_MS,
    HOUR_MS,
    6 * HOUR_MS,
    DAY_MS,
)
_MOST_STEPS: Final = 180
# What `spans` reads.
SOURCES: Final = ("covered_times",)


class Span(msgspec.Struct, frozen=True):
    """From one instant to another, epoch ms."""

    from_ms: int
    to_ms: int


class Window(msgspec.Struct, frozen=True):
    """Steps of `step_ms` from `from_ms` to `to_ms`, which are multiples of it."""

    from_ms: int
    to_ms: int
    step_ms: int

    @property
    def steps(self) -> range:
        """When each step begins."""
        return range(self.from_ms, self.to_ms, self.step_ms)

    def known(self, spans: Iterable[Span]) -> frozenset[int]:
        """The steps of which the spans hold any time."""
        steps: set[int] = set()
        for span in spans:
            first = max(self.from_ms, span.from_ms - span.from_ms % self.step_ms)
            steps.update(range(first, min(self.to_ms, span.to_ms + 1), self.step_ms))
        return frozenset(steps)


def window(from_ms: int, to_ms: int) -> Window:
    """The window that holds from..to, in the shortest steps that are not too many."""
    for step in STEPS_MS:
        if (to_ms - from_ms) // step < _MOST_STEPS:
            break
    first = from_ms - from_ms % step
    return Window(first, max(to_ms + -to_ms % step, first + step), step)


def spans(tables: Tables) -> tuple[Span, ...]:
    """The times of which the derived tables know everything, in the order of what happened; what lies between
    is a gap. Raises QueryError.
    """
    rows = tables.rows("SELECT from_ms, to_ms FROM covered_times ORDER BY from_zxid, from_ms")
    return tuple(Span(**row) for row in rows)
