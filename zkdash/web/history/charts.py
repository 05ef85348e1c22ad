"""A chart as a page has it: a picture in letters for every browser, and the numbers, which scripts draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from zkdash.history.queries.trends import Chart, Line
from zkdash.history.queries.window import DAY_MS, HOUR_MS, Window
from zkdash.web.frame import cells, times
from zkdash.web.frame.cells import Record

_LEVELS: Final = "▁▂▃▄▅▆▇█"
_GAP: Final = "·"
_WIDEST: Final = 60
UNKNOWN: Final = "not known: nothing was read of this time, or there is no such number"
FIELDS: Final = ("chart", "line", "unit", "at", "value", "value_reason")


class Picture(msgspec.Struct, frozen=True):
    """One line in short. `letters` are as many levels as fit, each the highest of its steps.

    `told` says the same for who cannot see it; the numbers are words, "unknown" where there is none.
    """

    name: str
    letters: str
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
    """A chart for its template. `rest` counts the names that have no line of their own."""

    chart: Chart
    pictures: tuple[Picture, ...]
    numbers: tuple[Numbers, ...]
    rest: int


def draw(chart: Chart, window: Window) -> Drawn:
    top = max((value for line in chart.lines for value in line.values if value is not None), default=0.0)
    own = sum(1 for line in chart.lines if not line.is_all)
    return Drawn(
        chart=chart,
        pictures=tuple(_picture(line, top) for line in chart.lines),
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


def _picture(line: Line, top: float) -> Picture:
    known = [value for value in line.values if value is not None]
    gaps = len(line.values) - len(known)
    least, most = (amount(min(known)), amount(max(known))) if known else ("unknown", "unknown")
    newest = amount(known[-1]) if known else "unknown"
    told = f"{line.name}: from {least} to {most}, last {newest}"
    return Picture(
        name=line.name,
        letters="".join(_level(value, top) for value in _few(line.values)),
        told=told + (f"; not known in {gaps} of {len(line.values)} steps" if gaps else ""),
        least=least,
        most=most,
        newest=newest,
    )


def _few(values: Sequence[float | None]) -> Iterator[float | None]:
    """The highest known of every so many steps."""
    width = -(-len(values) // _WIDEST)
    for at in range(0, len(values), width):
        yield max((value for value in values[at : at + width] if value is not None), default=None)


def _level(value: float | None, top: float) -> str:
    if value is None:
        return _GAP
    return _LEVELS[min(len(_LEVELS) - 1, int(value / top * (len(_LEVELS) - 1) + 0.999)) if top else 0]


def _numbers(chart: Chart, window: Window) -> Iterator[Numbers]:
    shape = "%Y-%m-%d" if window.step_ms >= DAY_MS else "%H:%M" if _is_short(window) else "%m-%d %H:%M"
    for place, at in enumerate(window.steps):
        moment = times.utc(at)
        found = (line.values[place] for line in chart.lines)
        yield Numbers(
            at=at // 1000,
            time=moment.strftime(shape) if moment else str(at),
            values=tuple(("" if value is None else f"{value:.6g}", amount(value)) for value in found),
        )


def _is_short(window: Window) -> bool:
    """Whether the time of day is enough to tell its steps apart."""
    return window.to_ms - window.from_ms <= 12 * HOUR_MS
