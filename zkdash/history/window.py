"""A stretch of time in equal steps, and which of it the tables know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from zkdash.history import coverage
from zkdash.history.tables import Tables

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
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
# What `span` reads.
SOURCES: Final = ("changes", "coverage", "hot_paths")


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
        found: set[int] = set()
        for span in spans:
            first = max(self.from_ms, span.from_ms - span.from_ms % self.step_ms)
            found.update(range(first, min(self.to_ms, span.to_ms + 1), self.step_ms))
        return frozenset(found)


def window(from_ms: int, to_ms: int) -> Window:
    """The window that holds from..to, in the shortest steps that are not too many."""
    for step in STEPS_MS:
        if (to_ms - from_ms) // step < _MOST_STEPS:
            break
    first = from_ms - from_ms % step
    return Window(first, max(to_ms + -to_ms % step, first + step), step)


def spans(tables: Tables) -> tuple[Span, ...]:
    """The times of which the derived tables know everything; what lies between is a gap.

    A stretch of transactions without a gap lasts from its first change to its last: of a quiet time before
    and behind it nobody can say how long it was. Raises QueryError.
    """
    (reach,) = tables.rows("SELECT max(minute) AS minute FROM hot_paths WHERE prefix = '/'")
    if reach["minute"] is None:
        return ()
    derived = reach["minute"] + MINUTE_MS - 1
    told = tables.rows("SELECT zxid_from, zxid_upto FROM coverage")
    stretches = coverage.joined((one["zxid_from"], one["zxid_upto"]) for one in told)
    if not stretches:  # only watched, never read from a log
        stretches = [coverage.Stretch(-(1 << 63), (1 << 63) - 1)]
    rows = tables.rows(
        """
        WITH stretches AS (SELECT unnest($first) AS first, unnest($last) AS last)
        SELECT min(time) AS from_ms, max(time) AS to_ms
        FROM (SELECT coalesce(zxid, zxid_upto, 0) AS place, time FROM changes) AS changes
        ASOF JOIN stretches ON place >= first
        WHERE place <= last GROUP BY first ORDER BY first
        """,
        {"first": [one.first for one in stretches], "last": [one.last for one in stretches]},
    )
    found = (Span(row["from_ms"], min(row["to_ms"], derived)) for row in rows)
    return tuple(span for span in found if span.from_ms <= span.to_ms)
