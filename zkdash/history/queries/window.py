"""A stretch of time in equal steps, and which of it the tables know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from zkdash.history.store import coverage
from zkdash.history.store.tables import Tables

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
SOURCES: Final = ("changes", "coverage", "watched", "hot_paths")


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
    """The times of which the derived tables know everything; what lies between is a gap.

    A stretch of transactions without a gap lasts from its first change to its last: of a quiet time before
    and behind it nobody can say how long it was. Where no log was read, it is what the recorder watched.
    Raises QueryError.
    """
    (reach,) = tables.rows("SELECT max(minute) AS minute FROM hot_paths WHERE prefix = '/'")
    if reach["minute"] is None:
        return ()
    derived = reach["minute"] + MINUTE_MS - 1
    rows = tables.rows("SELECT zxid_from, zxid_upto FROM coverage")
    stretches = coverage.joined((row["zxid_from"], row["zxid_upto"]) for row in rows)
    logged = _logged(tables, stretches) if stretches else _watched(tables)
    clipped = (Span(span.from_ms, min(span.to_ms, derived)) for span in logged)
    return tuple(span for span in clipped if span.from_ms <= span.to_ms)


def _logged(tables: Tables, stretches: list[coverage.Stretch]) -> list[Span]:
    rows = tables.rows(
        """
        WITH stretches AS (SELECT unnest($first) AS first, unnest($last) AS last)
        SELECT min(time) AS from_ms, max(time) AS to_ms FROM changes ASOF JOIN stretches ON zxid >= first
        WHERE zxid <= last GROUP BY first ORDER BY first
        """,
        {"first": [stretch.first for stretch in stretches], "last": [stretch.last for stretch in stretches]},
    )
    return [Span(**row) for row in rows]


def _watched(tables: Tables) -> list[Span]:
    """Intervals of the recorder; one without a reason to begin goes on with the one before."""
    joined: list[Span] = []
    for row in tables.rows("SELECT from_ms, to_ms, why FROM watched ORDER BY from_ms"):
        if joined and row["why"] is None:
            joined[-1] = Span(joined[-1].from_ms, max(joined[-1].to_ms, row["to_ms"]))
        else:
            joined.append(Span(row["from_ms"], row["to_ms"]))
    return joined
