"""Lines over time say what their values are, wherever one looks at them."""

from __future__ import annotations

import pytest

from tests.web.drawing import reading
from zkdash.web.drawing import series
from zkdash.web.drawing.series import Series


def test_a_small_line_breaks_where_nothing_is_known_and_stands_on_its_area() -> None:
    assert series.sparkline((0, 2, None, 4), label="offline: 0 to 4", severity="critical") == (
        '<svg viewBox="0 0 120 24" role="img" aria-label="offline: 0 to 4" class="drawing spark critical" '
        'preserveAspectRatio="none" data-top="4">'
        '<path d="M0 24L15 24L45 12H60V24H0ZM90 0L105 0H120V24H90Z" class="area line-1"/>'
        '<path d="M0 24L15 24L45 12H60M90 0L105 0H120" class="line-1"/></svg>'
    )


@pytest.mark.parametrize(
    "values",
    [(7.0,), (0.0, 0.0), (None, 3.0, None, 0.0, 12.5), tuple(float(step * 37 % 101) for step in range(720))],
    ids=["one step", "nothing but zero", "gaps", "as many as a chart has"],
)
def test_the_values_can_be_read_back_from_where_the_points_lie(values: tuple[float | None, ...]) -> None:
    drawn = reading.steps(series.sparkline(values, label="x"), len(values))
    assert [value is None for value in drawn] == [value is None for value in values]
    most = series.highest([values])
    for shown, value in zip(drawn, values, strict=True):
        assert (shown or 0) == pytest.approx(value or 0, abs=most / 24 / 100)


def test_lines_of_one_chart_share_their_scale_and_differ_by_more_than_colour() -> None:
    lines = (Series("all", (10.0, 20.0)), Series("orders", (5.0, None)))
    picture = series.chart(lines, label="two lines")
    assert reading.steps(picture, 2) == [10.0, 20.0]
    assert reading.steps(picture, 2, place=2) == [5.0, None]
    assert [series.style(place) for place in (0, 4, 5)] == ["line-1", "line-5", "line-1"]


def test_nothing_known_draws_no_line_and_a_given_top_scales_it() -> None:
    assert reading.steps(series.sparkline((None, None), label="unknown"), 2) == [None, None]
    assert reading.steps(series.sparkline((), label="nothing"), 0) == []
    assert reading.parsed(series.sparkline((1, 2), label="x", top=10)).get("data-top") == "10"
