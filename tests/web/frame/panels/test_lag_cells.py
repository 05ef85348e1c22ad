"""The picture of a lag's trend, read back into the lags that were sampled."""

from __future__ import annotations

import pytest
from lxml import html

from tests.web.drawing import reading
from zkdash.web.frame.panels.lag_cells import Trend


@pytest.mark.parametrize(
    "values",
    [
        tuple(range(0, 2000, 100)),
        (*range(2000, 1000, -100), None, None, *range(1000, 200, -100)),
        (None, None, *range(0, 1800, 100)),
    ],
)
def test_a_trend_is_drawn_as_its_words_say(values: tuple[int | None, ...]) -> None:
    (cell,) = html.fragment_fromstring(f"<table><tr>{Trend(values).html()}</tr></table>").iter("td")
    (picture,) = cell.iter("svg")
    (line,) = (path for path in picture.iter("path") if path.get("class") == "line-1")
    drawn = reading.points(line, len(values), float(picture.get("data-top")))
    said = cell.get("title").partition(": ")[2].split(", ")
    assert [None if value is None else round(value) for value in drawn] == [*values]
    assert said == ["unknown" if value is None else f"{value:,}".replace(",", "\u202f") for value in values]


def test_too_few_samples_draw_nothing() -> None:
    assert "<svg" not in Trend((1, 2)).html()
