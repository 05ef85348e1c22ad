"""Elements are escaped whatever they hold, bars and lanes say what they were given."""

from __future__ import annotations

import pytest

from tests.web.drawing import reading
from zkdash.web.drawing import bars, lanes, svg
from zkdash.web.drawing.lanes import Stretch


def test_texts_and_attributes_are_escaped_and_elements_are_not_escaped_twice() -> None:
    inner = svg.element("text", "<a & b>", data_name='"><script>')
    assert inner == '<text data-name="&quot;&gt;&lt;script&gt;">&lt;a &amp; b&gt;</text>'
    assert (
        svg.element("g", inner, class_="x", width=1.50, height=None)
        == f'<g class="x" width="1.5">{inner}</g>'
    )


def test_a_picture_speaks_or_is_decoration() -> None:
    assert svg.picture("3 of 4", 10, 2.5) == '<svg viewBox="0 0 10 2.5" role="img" aria-label="3 of 4"></svg>'
    assert svg.picture("", 1, 1) == '<svg viewBox="0 0 1 1" aria-hidden="true"></svg>'


@pytest.mark.parametrize(
    ("count", "mean", "out"), [(0, 0.0, 0), (45, 40.5, 0), (120, 110.0, 120), (120, None, 7)]
)
def test_a_bar_is_as_long_as_its_count_on_its_scale(count: int, mean: float | None, out: int) -> None:
    picture = reading.parsed(bars.bar(count, 160, mean=mean, out=out))
    shown, at, hatched = reading.bar(picture)
    assert [shown, hatched] == pytest.approx([count, out], abs=0.02)
    assert at == (pytest.approx(mean, abs=0.02) if mean else None)


def test_a_bar_of_a_scale_without_end_is_empty_and_none_is_longer_than_its_ground() -> None:
    assert reading.bar(reading.parsed(bars.bar(3, 0)))[0] == 0
    assert 'width="100%"' in bars.bar(9, 3)


def test_a_lane_is_cut_to_its_window_and_shows_what_was_short() -> None:
    stretches = (Stretch(0, 4_000, "up"), Stretch(4_000, 4_001, "down"), Stretch(4_001, 99_000, "up"))
    rects = list(reading.parsed(lanes.lane(stretches, 2_000, 12_000, label="up, down for 1 ms, up")))
    assert [(rect.get("class"), float(rect.get("x")), float(rect.get("width"))) for rect in rects] == [
        ("up", 0, 200),
        ("down", 200, 2),
        ("up", 200.1, 799.9),
    ]
    assert len(reading.parsed(lanes.lane(stretches, 200_000, 300_000, label="nothing"))) == 0


def test_a_stretch_is_named_where_there_is_room_and_the_last_one_always() -> None:
    stretches = (
        Stretch(0, 50, "up", "1"),
        Stretch(50, 51, "up", "2"),
        Stretch(51, 99, "unknown"),
        Stretch(99, 100, "up", "3"),
    )
    texts = list(reading.parsed(lanes.names(stretches, 0, 100)))
    assert [(text.text, text.get("x"), text.get("text-anchor")) for text in texts] == [
        ("1", "0%", None),
        ("3", "99%", "end"),
    ]
