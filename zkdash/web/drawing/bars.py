"""Counts as bars, against a mean or against the most of their kind."""

from __future__ import annotations

from typing import Final

from django.utils.safestring import SafeString

from zkdash.web.drawing import svg

# As high as the highest that a style makes of it; what is lower is cut.
_HIGH: Final = 8


def bar(
    count: float, most: float, *, label: str = "", mean: float | None = None, out: float = 0, kind: str = ""
) -> SafeString:
    """One count on a scale that ends at `most`, as wide as its room, with a line where the `mean` lies.

    The part `out` of it, at its end, is hatched: what of it is not as it should be. `kind` is a class more,
    `told` says the same in words.
    """
    well = _percent(count - out, most)
    drawn = [_piece("fill", width=well)]
    if out:
        drawn.append(_piece("out", x=well, width=_percent(out, most)))
    if mean:
        drawn.append(_piece("mean", x=_percent(mean, most), width="2"))
    return svg.element(
        "svg", *drawn, **svg.spoken(label), class_=f"bar {kind}".rstrip(), data_most=float(most)
    )


def in_cell(count: float, most: float, kind: str) -> SafeString:
    """A count beside the number that says it, on a scale that ends at `most`: short, as a table has many.

    `kind` is "mid" where the middle of the scale is marked, "out" for what is not as it should be.
    """
    rect = svg.element("rect", width=_percent(count, most), height=_HIGH)
    return svg.element("svg", rect, class_=f"bar {kind}")


def _piece(kind: str, **lengths: str) -> SafeString:
    return svg.element("rect", class_=kind, **lengths, height=_HIGH)


def _percent(count: float, most: float) -> str:
    share = min(100.0, max(0.0, count / most * 100)) if most else 0.0
    return f"{svg.number(share)}%"
