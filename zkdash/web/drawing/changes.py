"""A bar of time: how much changed in each step of a window, with marks, and where nobody knows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.web.drawing import svg
from zkdash.web.drawing.lanes import WIDE

HIGH: Final = 40
_LEAST: Final = 4.0
_MARKS: Final = 8  # the room on top that marks have for themselves


class Step(msgspec.Struct, frozen=True):
    """One step of the window: when it begins (epoch ms), how much changed, what stands above it ("gone",
    "elected", "" for nothing), its words, and where it leads."""

    from_ms: int
    changes: int
    mark: str
    words: str
    href: str


def bar_of_time(
    steps: Sequence[Step],
    unknown: Iterable[tuple[int, int]],
    at_ms: int,
    *,
    from_ms: int,
    to_ms: int,
    step_ms: int,
) -> SafeString:
    """The window, stretched to whatever width there is, with a line at a moment.

    The pointer alone gets to its links: a list of the same stands beside it. Bars are as high as the
    logarithm of their changes. `unknown` are the times of which nothing is told.
    """
    scale = WIDE / (to_ms - from_ms)
    most = max((step.changes for step in steps), default=0)
    gaps = (
        svg.element(
            "rect", x=(begin - from_ms) * scale, width=(end - begin) * scale, height=HIGH, class_="unknown"
        )
        for begin, end in unknown
    )
    drawn = (_step(step, (step.from_ms - from_ms) * scale, step_ms * scale, most) for step in steps)
    line = svg.element("path", d=f"M{svg.number((at_ms - from_ms) * scale)} 0V{HIGH}", class_="at")
    return svg.picture(
        "",
        WIDE,
        HIGH,
        *gaps,
        *drawn,
        line,
        class_="drawing changes",
        preserveAspectRatio="none",
        data_from=from_ms,
        data_to=to_ms,
        data_step=step_ms,
    )


def _step(step: Step, x: float, wide: float, most: int) -> SafeString:
    pieces = [
        svg.element("title", step.words),
        svg.element("rect", x=x, width=wide, height=HIGH, class_="room"),
    ]
    if step.changes:
        share = math.log1p(step.changes) / math.log1p(most)
        high = _LEAST + (HIGH - _MARKS - _LEAST) * share
        pieces.append(
            svg.element(
                "rect",
                x=x + wide * 0.1,
                y=HIGH - high,
                width=wide * 0.8,
                height=high,
                class_="fill",
                data_changes=step.changes,
            )
        )
    if step.mark:
        pieces.append(
            svg.element("rect", x=x, width=wide, height=float(_MARKS - 2), class_=f"flag {step.mark}")
        )
    return svg.element("a", *pieces, href=step.href, tabindex="-1")
