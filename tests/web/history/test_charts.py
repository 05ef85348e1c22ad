"""Charts as pictures, numbers in words, and where the charts' library is served from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.narrowing import known
from tests.web import states
from tests.web.drawing import reading
from zkdash.history.queries.trends import Chart, Line
from zkdash.history.queries.window import Window
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS
from zkdash.web import pages
from zkdash.web.drawing import series
from zkdash.web.history import charts
from zkdash.web.history.charts import Drawn

HOUR = 1_760_000_400_000 - 1_760_000_400_000 % HOUR_MS


def drawn(*lines: tuple[float | None, ...], step_ms: int = MINUTE_MS, names: int = 0) -> Drawn:
    chart = Chart(
        "x", "X", "things", tuple(Line(f"l{at}", line) for at, line in enumerate(lines)), names, "none"
    )
    return charts.draw(chart, Window(HOUR, HOUR + len(lines[0]) * step_ms, step_ms))


def test_a_chart_is_drawn_as_it_is_told() -> None:
    chart = drawn((0.0, 10.0, None, 20.0), (0.0, 0.0, 0.0, 100.0))
    assert (chart.top, chart.begin, chart.end) == ("100", "2025-10-09 09:00 UTC", "2025-10-09 09:04 UTC")
    assert reading.steps(chart.svg, 4) == [0.0, 10.0, None, 20.0]
    assert reading.steps(chart.svg, 4, place=2) == [0.0, 0.0, 0.0, 100.0]
    assert chart.lines[0].told == "l0: from 0 to 20, last 20; not known in 1 of 4 steps"
    assert all(line.told in reading.parsed(chart.svg).get("aria-label") for line in chart.lines)
    assert [series.style(place) in line.key for place, line in enumerate(chart.lines)] == [True, True]


def test_of_what_is_not_known_at_all_there_is_no_number() -> None:
    (line,) = drawn((None, None)).lines
    assert (line.least, line.most, line.newest) == ("unknown", "unknown", "unknown")


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "unknown"), (0.0, "0"), (0.333, "0.33"), (1.5, "1.5"), (12345.6, "12\u202f346"), (7.0, "7")],
)
def test_a_number_has_as_many_digits_as_matter(value: float | None, words: str) -> None:
    assert charts.amount(value) == words


@pytest.mark.parametrize(
    ("step_ms", "steps", "first"),
    [(MINUTE_MS, 60, "09:00"), (HOUR_MS, 24, "10-09 09:00"), (DAY_MS, 30, "2025-10-09")],
)
def test_times_tell_what_is_needed_to_tell_steps_apart(step_ms: int, steps: int, first: str) -> None:
    assert drawn((1.0,) * steps, step_ms=step_ms).numbers[0].time == first


def test_names_without_a_line_are_counted() -> None:
    assert drawn((1.0,), (2.0,), names=7).rest == 5


def test_the_library_is_served_from_its_package_and_nothing_else_of_it() -> None:
    for name in ("uPlot.iife.js", "uPlot.min.css"):
        found = finders.find(f"uplot/{name}")
        assert "site-packages" in Path(known(found)).parts
    for other in ("uplot/__init__.py", "uplot/uPlot.mousewheel.js", "uplot/../x", "uPlot.iife.js"):
        assert not finders.find(other)
    served = {name for finder in finders.get_finders() for name, _ in finder.list([]) if "uPlot" in name}
    assert served == {"uPlot.iife.js", "uPlot.min.css"}


def test_finding_it_imports_nothing_of_it() -> None:
    program = (
        "import sys; from zkdash.web.history.chart_files import ChartFinder; ChartFinder(); "
        "print('uplot' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False
    )
    assert ran.stdout == "False\n", ran.stderr


def test_only_pages_that_draw_load_it() -> None:
    states.publish(states.healthy())
    lists = [page.route for page in pages.PAGES if "<" not in page.route and page.whole is None]
    loading = [route for route in lists if b"uPlot" in Client().get(f"/c/demo/{route}").content]
    assert loading == []
    assert Client().get("/c/demo/trends/").content.count(b"uPlot") == 2
