"""A chart as a picture that any browser shows without a script: paths for an SVG, and a scale in words.

The picture is stretched to whatever width it has, so that it holds no letters: those stand around it. Zero is
at its bottom, the highest number of all lines at its top. A step of which nothing is known breaks a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from zkdash.history.queries.trends import Chart
from zkdash.history.queries.window import Window
from zkdash.web.frame import times
from zkdash.web.history import charts
from zkdash.web.history.charts import Picture

WIDTH: Final = 600
HEIGHT: Final = 120


class Curve(msgspec.Struct, frozen=True):
    """One line: `path` is what an SVG's path takes; `picture` says the same in words."""

    path: str
    picture: Picture


class Plot(msgspec.Struct, frozen=True):
    """A chart for its template: `top` is the number at its top, `begin` and `end` its sides' times."""

    curves: tuple[Curve, ...]
    top: str
    begin: str
    end: str
    told: str


def plot(chart: Chart, window: Window) -> Plot:
    """The picture of a chart that has lines."""
    most = max((value for line in chart.lines for value in line.values if value is not None), default=0.0)
    pictures = charts.draw(chart, window).pictures
    curves = tuple(
        Curve(" ".join(_strokes(line.values, most)), picture)
        for line, picture in zip(chart.lines, pictures, strict=True)
    )
    return Plot(
        curves=curves,
        top=charts.amount(most),
        begin=_moment(window.from_ms),
        end=_moment(window.to_ms),
        told="; ".join(picture.told for picture in pictures),
    )


def _strokes(values: Sequence[float | None], most: float) -> Iterator[str]:
    """Each stretch without a gap: as wide as its steps are, so that one step alone is seen too."""
    wide = WIDTH / len(values)
    for at, value in enumerate(values):
        if value is None:
            continue
        high = HEIGHT - (value / most * HEIGHT if most else 0)
        begins = at == 0 or values[at - 1] is None
        ends = at + 1 == len(values) or values[at + 1] is None
        middle = f"{(at + 0.5) * wide:.1f} {high:.1f}"
        if begins:
            yield f"M{at * wide:.1f} {high:.1f}"
        yield f"L{middle}"
        if ends:
            yield f"L{(at + 1) * wide:.1f} {high:.1f}"


def _moment(epoch_ms: int) -> str:
    moment = times.utc(epoch_ms)
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else str(epoch_ms)
