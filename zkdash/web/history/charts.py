"""A chart as a page has it: a picture that any browser shows, and the numbers, which scripts draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.history.queries.trends import Chart, Line
from zkdash.history.queries.window import Window
from zkdash.time_units import DAY_MS, HOUR_MS
from zkdash.web.drawing import series
from zkdash.web.drawing.series import Series
from zkdash.web.frame import cells, times
from zkdash.web.frame.cells import Record

UNKNOWN: Final = "not known: nothing was read of this time, or there is no such number"
FIELDS: Final = ("chart", "line", "unit", "at", "value", "value_reason")


class Summary(msgspec.Struct, frozen=True):
    """One line in short: `key` is a piece of it as it is drawn. The numbers are words, "unknown" where there
    is none; `told` says the same in a sentence."""

    name: str
    key: SafeString
    told: str
    least: str
    most: str
    newest: str


class Numbers(msgspec.Struct, frozen=True):
    """One step of a chart: epoch seconds, its time in words, and each line's number, raw and in words.

    The raw number is "" where it is not known.
    """

    at: int
    time: str
    values: tuple[tuple[str, str], ...]


class Drawn(msgspec.Struct, frozen=True):
    """A chart for its template. `rest` counts the names that have no line of their own.

    `top` is the number at the top of its picture, `begin` and `end` are the times of its sides.
    """

    chart: Chart
    svg: SafeString
    top: str
    begin: str
    end: str
    lines: tuple[Summary, ...]
    numbers: tuple[Numbers, ...]
    rest: int


def draw(chart: Chart, window: Window) -> Drawn:
    lines = tuple(_summary(line, place) for place, line in enumerate(chart.lines))
    own = sum(1 for line in chart.lines if not line.is_all)
    return Drawn(
        chart=chart,
        svg=series.chart(
            [Series(line.name, tuple(line.values)) for line in chart.lines],
            label=f"{chart.title}. " + "; ".join(line.told for line in lines),
        ),
        top=amount(series.highest([line.values for line in chart.lines])),
        begin=_moment(window.from_ms),
        end=_moment(window.to_ms),
        lines=lines,
        numbers=tuple(_numbers(chart, window)) if chart.lines else (),
        rest=max(0, chart.names - own),
    )


def records(charts: Sequence[Chart], window: Window) -> Iterator[Record]:
    """Every number of every line, in the order of the page."""
    for chart in charts:
        for line in chart.lines:
            for at, value in zip(window.steps, line.values, strict=True):
                record: Record = {"chart": chart.id, "line": line.name, "unit": chart.unit}
                record |= {"at": times.utc_text(at), "value": value}
                if value is None:
                    record["value_reason"] = UNKNOWN
                yield record


def amount(value: float | None) -> str:
    """A number for people: whole ones grouped, others with as many digits as matter."""
    if value is None:
        return "unknown"
    if value == int(value) or abs(value) >= 100:
        return cells.grouped(round(value))
    return f"{value:.2g}" if abs(value) < 1 else f"{value:.1f}"


def _summary(line: Line, place: int) -> Summary:
    values = [value for value in line.values if value is not None]
    gaps = len(line.values) - len(values)
    least, most = (amount(min(values)), amount(max(values))) if values else ("unknown", "unknown")
    newest = amount(values[-1]) if values else "unknown"
    sentence = f"{line.name}: from {least} to {most}, last {newest}"
    return Summary(
        name=line.name,
        key=series.legend(place),
        told=sentence + (f"; not known in {gaps} of {len(line.values)} steps" if gaps else ""),
        least=least,
        most=most,
        newest=newest,
    )


def _moment(epoch_ms: int) -> str:
    moment = times.utc(epoch_ms)
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else str(epoch_ms)


def _numbers(chart: Chart, window: Window) -> Iterator[Numbers]:
    shape = "%Y-%m-%d" if window.step_ms >= DAY_MS else "%H:%M" if _is_short(window) else "%m-%d %H:%M"
    for place, at in enumerate(window.steps):
        moment = times.utc(at)
        numbers = (line.values[place] for line in chart.lines)
        yield Numbers(
            at=at // 1000,
            time=moment.strftime(shape) if moment else str(at),
            values=tuple(("" if value is None else f"{value:.6g}", amount(value)) for value in numbers),
        )


def _is_short(window: Window) -> bool:
    """Whether the time of day is enough to tell its steps apart."""
    return window.to_ms - window.from_ms <= 12 * HOUR_MS
