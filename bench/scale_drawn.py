"""Draws what the row `scale` told: `make bench ONLY=scale | python -m bench.scale_drawn > docs/scale.svg`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bench import scale
from zkdash.web.drawing import svg

_PANELS: Final = (
    ("First page rendered, s", (scale.LOAD,)),
    ("Memory held, MiB", (scale.MEMORY,)),
    ("CPU of a change, µs", (scale.CHANGE,)),
    ("CPU of the Topics page, ms: as it is, and sorted (dashed)", (scale.PAGE, scale.SORTED)),
)
_WIDE, _HIGH, _LEFT, _TOP, _GAP = 360, 120, 30, 30, 70
_STYLE: Final = """
text { font: 12px sans-serif; fill: #777 } .title { font-weight: bold }
path { fill: none; stroke: #1f6feb; stroke-width: 2 }
.line-2 { stroke: #bf5700; stroke-dasharray: 6 3 } .ground { fill: #8882 }
"""
_LABELLED: Final = 3  # of the largest sizes, as the others lie close together


def told(lines: Iterable[str]) -> Mapping[str, Any]:
    """The row among what the bench printed. Raises ValueError."""
    for line in lines:
        if line.startswith('{"row": "scale"'):
            row: Mapping[str, Any] = json.loads(line)
            return row
    raise ValueError("the bench printed no row `scale`: make bench ONLY=scale")


def drawn(row: Mapping[str, Any]) -> str:
    """The row as a picture: a panel a figure, over the number of partitions from 0 on."""
    figures = {
        int(name.removesuffix(" partitions").replace(",", "")): each for name, each in row["sides"].items()
    }
    wide, high = 2 * (_WIDE + _LEFT) + _LEFT, _TOP + 2 * (_HIGH + _GAP)
    return svg.picture(
        "What a cluster costs, by its number of partitions",
        wide,
        high,
        svg.element("style", _STYLE),
        *(_panel(place, title, figures, names) for place, (title, names) in enumerate(_PANELS)),
        xmlns="http://www.w3.org/2000/svg",
        width=wide,
        height=high,
    )


def _panel(place: int, title: str, figures: Mapping[int, Mapping[str, float]], names: Sequence[str]) -> str:
    left = _LEFT + place % 2 * (_WIDE + _LEFT)
    top = _TOP + place // 2 * (_HIGH + _GAP)
    largest = max(figures)
    highest = max(each[name] for each in figures.values() for name in names) * 1.1
    lines = [
        svg.element("path", d=_path(figures, name, largest, highest), class_=f"line-{number}")
        for number, name in enumerate(names, 1)
    ]
    labels = [
        svg.element("text", text, x=partitions / largest * _WIDE, y=_HIGH + y, text_anchor="end", class_=kind)
        for partitions, each in sorted(figures.items())[-_LABELLED:]
        for text, y, kind in ((f"{partitions:,}", 16, ""), (f"{each[names[0]]:.3g}", 32, "title"))
    ]
    return svg.element(
        "g",
        svg.element("text", title, x=0, y=-8, class_="title"),
        svg.element("rect", width=_WIDE, height=_HIGH, class_="ground"),
        *lines,
        *labels,
        transform=f"translate({left} {top})",
    )


def _path(figures: Mapping[int, Mapping[str, float]], name: str, largest: int, highest: float) -> str:
    points = [
        f"{svg.number(partitions / largest * _WIDE)} {svg.number(_HIGH - each[name] / highest * _HIGH)}"
        for partitions, each in sorted(figures.items())
    ]
    return "M" + "L".join(points)


if __name__ == "__main__":
    sys.stdout.write(drawn(told(sys.stdin)) + "\n")
