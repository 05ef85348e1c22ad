"""Lanes: what something was, from when to when, over a window of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from django.utils.safestring import SafeString

from zkdash.web.drawing import svg

WIDE = 1000
_HIGH = 16
# A stretch is never narrower than this many units: what was short is seen all the same.
_LEAST = 2.0
# What is narrower than so many hundredths has no room for its name.
_LEGIBLE = 2.0


class Stretch(msgspec.Struct, frozen=True):
    """From when to when (epoch ms), and what it was: a class of `drawing.css` (up, down, unknown, …).
    `name` says more of it, "" for nothing."""

    from_ms: int
    to_ms: int
    kind: str
    name: str = ""


def lane(stretches: Iterable[Stretch], from_ms: int, to_ms: int, *, label: str) -> SafeString:
    """The stretches of one thing, cut to a window that is stretched to whatever width there is."""
    return svg.picture(
        label,
        WIDE,
        _HIGH,
        *(piece for stretch in stretches if (piece := _piece(stretch, from_ms, to_ms)) is not None),
        class_="drawing lane",
        preserveAspectRatio="none",
    )


def names(stretches: Sequence[Stretch], from_ms: int, to_ms: int) -> SafeString:
    """The names of stretches where they begin, for a layer over their lane: letters are not stretched.

    What is too narrow has none; of the last one, which is what holds now, it then stands in front.
    """
    texts = []
    for stretch in stretches:
        begin = max(stretch.from_ms, from_ms)
        is_wide = _share(stretch.to_ms - begin, to_ms - from_ms) >= _LEGIBLE
        if stretch.name and (is_wide or stretch is stretches[-1]):
            place = f"{svg.number(_share(begin - from_ms, to_ms - from_ms))}%"
            texts.append(
                svg.element("text", stretch.name, x=place, y="10", text_anchor=None if is_wide else "end")
            )
    return svg.element("svg", *(texts or ("",)), class_="names", **svg.spoken(""))


def _share(part: int, whole: int) -> float:
    return max(0.0, 100 * part / whole) if whole else 0.0


def _piece(stretch: Stretch, from_ms: int, to_ms: int) -> SafeString | None:
    begin, end = max(stretch.from_ms, from_ms), min(stretch.to_ms, to_ms)
    if end < begin or to_ms <= from_ms:
        return None
    scale = WIDE / (to_ms - from_ms)
    wide = max(_LEAST, (end - begin) * scale)
    x = min((begin - from_ms) * scale, WIDE - wide)
    return svg.element(
        "rect",
        x=x,
        width=wide,
        height=_HIGH,
        class_=stretch.kind,
        data_from=stretch.from_ms,
        data_to=stretch.to_ms,
    )
