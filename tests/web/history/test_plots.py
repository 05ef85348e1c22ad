"""Charts as pictures without a script: lines that break where nothing is known, a scale in words."""

from __future__ import annotations

from zkdash.history.queries.trends import Chart, Line
from zkdash.history.queries.window import MINUTE_MS, Window
from zkdash.web.history import plots

WINDOW = Window(0, 4 * MINUTE_MS, MINUTE_MS)


def chart(*values: tuple[float | None, ...]) -> Chart:
    lines = tuple(Line(f"line {at}", one) for at, one in enumerate(values))
    return Chart("lag", "Lag", "messages", lines, len(lines), "")


def test_zero_is_at_the_bottom_and_the_highest_of_all_lines_at_the_top() -> None:
    found = plots.plot(chart((0, 0, 0, 0), (0, 50, 100, 50)), WINDOW)
    flat, high = (one.path for one in found.curves)
    assert flat == "M0.0 120.0 L75.0 120.0 L225.0 120.0 L375.0 120.0 L525.0 120.0 L600.0 120.0"
    assert high == "M0.0 120.0 L75.0 120.0 L225.0 60.0 L375.0 0.0 L525.0 60.0 L600.0 60.0"
    assert (found.top, found.begin, found.end) == ("100", "1970-01-01 00:00 UTC", "1970-01-01 00:04 UTC")


def test_a_line_breaks_where_nothing_is_known_and_one_step_alone_is_seen() -> None:
    (only,) = plots.plot(chart((None, 2, None, 2)), WINDOW).curves
    assert only.path == "M150.0 0.0 L225.0 0.0 L300.0 0.0 M450.0 0.0 L525.0 0.0 L600.0 0.0"
    (none,) = plots.plot(chart((None,) * 4), WINDOW).curves
    assert none.path == ""


def test_it_says_in_words_what_it_shows_and_what_all_zero_is() -> None:
    found = plots.plot(chart((0, 0, None, 0)), WINDOW)
    assert found.top == "0"
    assert found.told == "line 0: from 0 to 0, last 0; not known in 1 of 4 steps"
    assert found.curves[0].path.startswith("M0.0 120.0")
