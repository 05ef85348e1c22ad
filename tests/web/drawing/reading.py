"""Pictures read back into the numbers that they show."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

# Of a bar: all of its count, the mean, and what of it is out.
Bar = tuple[float, float | None, float]


def parsed(picture: str) -> Any:
    """The picture as XML, in which it must be well-formed too."""
    return etree.fromstring(picture)


def steps(picture: str, count: int, *, place: int = 1) -> list[float | None]:
    """The values of each step that the line at a place shows."""
    svg = parsed(picture)
    (path,) = (one for one in svg.iter("path") if one.get("class") == f"line-{place}")
    return points(path, count, float(svg.get("data-top")))


def points(path: Any, count: int, top: float) -> list[float | None]:
    """The values of each step that a line shows, by where its points lie."""
    wide, high = (float(length) for length in _view_box(path).split()[2:])
    values: list[float | None] = [None] * count
    for x, y in re.findall(r"L([\d.-]+) ([\d.-]+)", path.get("d", "")):
        values[int(float(x) / wide * count)] = (high - float(y)) / high * top
    return values


def _view_box(path: Any) -> str:
    """That of the picture around it, as it is written, and as a parser of HTML has it."""
    boxes = (one.get("viewBox") or one.get("viewbox") for one in path.iterancestors())
    return next(str(box) for box in boxes if box)


def bar(picture: Any) -> Bar:
    """What a bar shows, by its lengths."""
    most = float(picture.get("data-most"))
    pieces = {piece.get("class"): piece for piece in picture.iter("rect")}

    def count(kind: str, length: str) -> float | None:
        piece = pieces.get(kind)
        return None if piece is None else float(piece.get(length).removesuffix("%")) / 100 * most

    out = count("out", "width") or 0.0
    return (count("fill", "width") or 0.0) + out, count("mean", "x"), out
