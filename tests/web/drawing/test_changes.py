"""The bar of time, read back into the numbers that it shows."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.web.drawing import reading
from zkdash.web.drawing import changes
from zkdash.web.drawing.changes import HIGH, Step

MINUTE: Final = 60_000
STEPS: Final = [
    Step(0, 0, "", "00:00, 0 changes", "?at=a"),
    Step(MINUTE, 1, "", "00:01, 1 change", "?at=b"),
    Step(2 * MINUTE, 500, "gone", "00:02, 500 changes, 1 broker gone", "?at=c"),
]


def drawn(steps: list[Step]) -> Any:
    return reading.parsed(
        changes.bar_of_time(
            steps,
            [(3 * MINUTE, 5 * MINUTE)],
            int(2.5 * MINUTE),
            from_ms=0,
            to_ms=10 * MINUTE,
            step_ms=MINUTE,
        )
    )


def test_each_step_stands_at_its_time_leads_there_and_says_what_it_shows() -> None:
    links = {link.get("href"): link for link in drawn(STEPS).iter("a")}
    assert list(links) == ["?at=a", "?at=b", "?at=c"]
    assert [link.findtext("title") for link in links.values()] == [step.words for step in STEPS]
    fills = [
        (int(piece.get("data-changes")), float(piece.get("x")), float(piece.get("height")))
        for link in links.values()
        for piece in link.iter("rect")
        if piece.get("class") == "fill"
    ]
    assert [(count, int(x // 100)) for count, x, _ in fills] == [(1, 1), (500, 2)]
    assert 0 < fills[0][2] < fills[1][2] < HIGH
    assert [piece.get("class") for piece in links["?at=c"].iter("rect")][-1] == "flag gone"


def test_the_moment_and_what_nobody_knows_are_drawn_in_scale() -> None:
    picture = drawn(STEPS)
    (gap,) = (piece for piece in picture.iter("rect") if piece.get("class") == "unknown")
    assert (float(gap.get("x")), float(gap.get("width"))) == pytest.approx((300, 200))
    (line,) = picture.iter("path")
    assert line.get("d") == f"M250 0V{HIGH}"


def test_a_window_in_which_nothing_changed_is_drawn() -> None:
    assert not [piece for piece in drawn(STEPS[:1]).iter("rect") if piece.get("class") == "fill"]
