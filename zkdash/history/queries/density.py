"""How much changed when, around a moment: as a bar of time draws it. Commits of offsets do not count."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.cluster.changes import row
from zkdash.history.queries import moment, neighbours
from zkdash.history.queries.instants import Around
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.window import Span, Window
from zkdash.history.store.tables import Tables
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS

# How wide a bar may be, by its name in an address, and how long a step of it is.
WIDTHS: Final = {
    "10m": (10 * MINUTE_MS, MINUTE_MS // 6),
    "1h": (HOUR_MS, MINUTE_MS),
    "6h": (6 * HOUR_MS, 5 * MINUTE_MS),
    "1d": (DAY_MS, 15 * MINUTE_MS),
    "7d": (7 * DAY_MS, 2 * HOUR_MS),
}
USUAL: Final = "1h"
# The moment stands so far into the bar, or a step's fraction more: there is more before than after it.
_PLACE: Final = 0.75


class Step(msgspec.Struct, frozen=True):
    """How many changes one step had, how many brokers went, and how many controllers were elected."""

    changes: int = 0
    gone: int = 0
    elected: int = 0


class Density(msgspec.Struct, frozen=True):
    """What changed in each step of a window that had any, by when the step begins (epoch ms), and which times
    of it are told; of others nothing is known."""

    window: Window
    steps: dict[int, Step]
    known: tuple[Span, ...]


def read(tables: Tables, around: Around, instant: Instant, width: str) -> Density:
    """The changes around a moment that the source tells of which `around` is. Raises QueryError."""
    window = of_width(instant.time_ms, width)
    given = {"source": around.source, "from": window.from_ms, "upto": window.to_ms, "step": window.step_ms}
    files = {"changes": {"time": (window.from_ms, window.to_ms - 1)}}
    steps = {
        int(each["step"]): Step(int(each["changes"]), int(each["gone"]), int(each["elected"]))
        for each in tables.lasting(_STEPS, given, files)
    }
    return Density(window, steps, tuple(_within(window, _known(tables, around))))


def of_width(time_ms: int, width: str) -> Window:
    """The window of a moment; moments of one step have the same."""
    width_ms, step_ms = WIDTHS[width]
    first = (time_ms - int(width_ms * _PLACE)) // step_ms * step_ms
    return Window(first, first + width_ms, step_ms)


def _known(tables: Tables, around: Around) -> list[Span]:
    if around.source == row.LOGGED:
        return [Span(around.from_ms, around.to_ms)]
    # What is told around the moment may be newer than the last proof, by which an interval ends.
    spans = [Span(each["from_ms"], each["to_ms"]) for each in moment.intervals(tables)]
    return sorted([*spans, Span(around.from_ms, around.to_ms)], key=lambda span: span.from_ms)


def _within(window: Window, spans: list[Span]) -> list[Span]:
    """The spans within a window, joined where one goes on from another."""
    joined: list[Span] = []
    for span in spans:
        from_ms, to_ms = max(span.from_ms, window.from_ms), min(span.to_ms, window.to_ms)
        if joined and from_ms <= joined[-1].to_ms + _JOINED_MS:
            joined[-1] = Span(joined[-1].from_ms, max(to_ms, joined[-1].to_ms))
        elif from_ms < to_ms:
            joined.append(Span(from_ms, to_ms))
    return joined


# The recorder's intervals follow one another with the time of a proof between them.
_JOINED_MS: Final = 5_000
_STEPS: Final = f"""
SELECT time // $step * $step AS step, count(*) AS changes,
    count(*) FILTER (type IN {tuple(sorted(row.REMOVALS))}
        AND regexp_matches(path, '^/brokers/ids/[0-9]+$')) AS gone,
    count(*) FILTER (type IN {tuple(sorted(row.CREATES))} AND path = '/controller') AS elected
FROM changes WHERE {neighbours.CHANGES} AND time >= $from AND time < $upto GROUP BY step
"""  # noqa: S608 - our own words
