"""Draws what the row `scale` told: `make bench ONLY=scale | python -m bench.scale_drawn > docs/scale.svg`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bench import scale
from zkdash.web.drawing import series, svg
from zkdash.web.drawing.series import Series

_PANELS: Final = (
    ("First page rendered, s", (scale.LOAD,)),
    ("Memory held, MiB", (scale.MEMORY,)),
    ("CPU of a change, µs", (scale.CHANGE,)),
    ("CPU of the Topics page, ms: as it is, and sorted", (scale.PAGE, scale.SORTED)),
)
_WIDE, _HIGH, _LEFT, _TOP, _GAP = 360, 120, 20, 40, 70
_STYLE: Final = """
text { font: 12px sans-serif; fill: #555 } .title { font-weight: bold }
path { fill: none; stroke: #1f6feb; stroke-width: 2; vector-effect: non-scaling-stroke }
path.line-2 { stroke: #bf5700; stroke-dasharray: 6 3 } .ground { fill: #8882 }
"""


def told(lines: Iterable[str]) -> Mapping[str, Any]:
    """The row among what the bench printed. Raises ValueError."""
    for line in lines:
        if line.startswith('{"row": "scale"'):
            found: Mapping[str, Any] = json.loads(line)
            return found
    raise ValueError("the bench printed no row `scale`: make bench ONLY=scale")


def drawn(row: Mapping[str, Any]) -> str:
    """The row as a picture: a panel a figure, over the numbers of partitions, each step a few times more."""
    sizes = [name.removesuffix(" partitions") for name in row["sides"]]
    panels = [
        _panel(place, title, sizes, row["sides"].values(), names) for place, (title, names) in _places()
    ]
    wide = 2 * (_WIDE + _LEFT) + _LEFT
    high = _TOP + 2 * (_HIGH + _GAP)
    return svg.picture(
        "What a cluster costs, by its number of partitions",
        wide,
        high,
        svg.element("style", _STYLE),
        *panels,
        xmlns="http://www.w3.org/2000/svg",
        width=wide,
        height=high,
    )


def _places() -> Iterable[tuple[int, tuple[str, Sequence[str]]]]:
    return enumerate(_PANELS)


def _panel(
    place: int,
    title: str,
    sizes: Sequence[str],
    sides: Iterable[Mapping[str, float]],
    names: Sequence[str],
) -> str:
    left = _LEFT + place % 2 * (_WIDE + _LEFT)
    top = _TOP + place // 2 * (_HIGH + _GAP)
    every = list(sides)
    lines = [Series(name, tuple(figures[name] for figures in every)) for name in names]
    step = _WIDE / len(sizes)
    return svg.element(
        "g",
        svg.element("text", title, x=0, y=-8, class_="title"),
        svg.element("rect", width=_WIDE, height=_HIGH, class_="ground"),
        svg.element("svg", series.chart(lines, label=title), width=_WIDE, height=_HIGH, overflow="visible"),
        *(
            svg.element("text", text, x=(number + 0.5) * step, y=_HIGH + 16, text_anchor="middle")
            for number, text in enumerate(sizes)
        ),
        *(
            svg.element(
                "text",
                f"{value:.3g}",
                x=(number + 0.5) * step,
                y=_HIGH + 32,
                text_anchor="middle",
                class_="title",
            )
            for number, value in enumerate(lines[0].values)
        ),
        transform=f"translate({left} {top})",
    )


if __name__ == "__main__":
    sys.stdout.write(drawn(told(sys.stdin)) + "\n")
