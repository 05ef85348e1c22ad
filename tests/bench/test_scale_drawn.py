"""The picture of what a cluster costs: what grows with it is a straight line, what does not a flat one."""

from __future__ import annotations

import itertools
import json
import re
from xml.etree import ElementTree

import pytest

from bench import scale, scale_drawn

SIZES = (1_000, 4_000, 10_000)


def _row() -> dict[str, object]:
    sides = {
        f"{size:,} partitions": {
            scale.LOAD: size / 1_000,
            scale.MEMORY: size / 100,
            scale.CHANGE: 30.0,
            scale.PAGE: 4.0,
            scale.SORTED: 5.0,
        }
        for size in SIZES
    }
    return {"row": "scale", "size": "small", "sides": sides, "goals": []}


def _points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_lines_are_straight_or_flat_as_the_figures_are() -> None:
    drawn = scale_drawn.drawn(scale_drawn.told(["noise", json.dumps(_row())]))
    picture = ElementTree.fromstring(drawn)  # noqa: S314 - ours
    paths = [path.get("d") or "" for path in picture.iter("{http://www.w3.org/2000/svg}path")]
    load, _, change, page, by_sort = map(_points, paths)
    slopes = {
        round((left[1] - right[1]) / (right[0] - left[0]), 2) for left, right in itertools.pairwise(load)
    }
    assert len(slopes) == 1
    assert slopes.pop() > 0
    for flat in (change, page, by_sort):
        assert len({y for _, y in flat}) == 1
    assert by_sort[0][1] < page[0][1]
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("10,000") == 4


def test_without_the_row_it_says_what_to_run() -> None:
    with pytest.raises(ValueError, match="make bench ONLY=scale"):
        scale_drawn.told(["nothing"])
