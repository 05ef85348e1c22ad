"""Series over time as lines: the one drawing of them on the server, small or as wide as a page.

Zero is at the bottom, `top` (by default the highest number of all lines) at the top. The picture is stretched
to whatever room it has, so that it holds no letters. A step of which nothing is known (None) breaks a line:
unknown is not zero. Lines differ by colour and by dash (`line-1` to `line-5`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.web.drawing import svg

Values = Sequence[float | None]

WIDE: Final = 600
HIGH: Final = 120
_SPARK_WIDE: Final = 120
_SPARK_HIGH: Final = 24
_LEAST_SHARE: Final = 1 / 6
STYLES: Final = 5


class Series(msgspec.Struct, frozen=True):
    """One line: a value for each step, None where it is not known."""

    name: str
    values: tuple[float | None, ...]


def sparkline(values: Values, *, label: str, severity: str = "", top: float | None = None) -> SafeString:
    """One series as a small line over its area; `severity` colours it, `told` says it in words.

    The time before the first known value is a dotted line at the foot. Of a series that has just begun the
    known part is drawn wider, so that it can be seen.
    """
    room = _Room(_SPARK_WIDE, _SPARK_HIGH, highest([values]) if top is None else top)
    before = next((place for place, value in enumerate(values) if value is not None), 0)
    if not before:
        return room.picture(label, f"spark {severity}".rstrip(), room.line(values, 0, area=True))
    share = 1 - before / len(values)
    begin = svg.number(_SPARK_WIDE * (1 - max(share, _LEAST_SHARE)))
    foot = svg.element("path", d=f"M0 {_SPARK_HIGH - 1}H{begin}", class_="before")
    line: Iterable[SafeString] = room.line(values, 0, area=True)
    if share < _LEAST_SHARE:
        wider = f"translate({begin} 0) scale({svg.number(_LEAST_SHARE)} 1)"
        line = (svg.element("g", *room.line(values[before:], 0, area=True), transform=wider),)
    return room.picture(label, f"spark {severity}".rstrip(), (foot, *line))


def chart(lines: Sequence[Series], *, label: str, top: float | None = None) -> SafeString:
    """Several series over the same steps."""
    room = _Room(WIDE, HIGH, highest([line.values for line in lines]) if top is None else top)
    return room.picture(
        label, "series", (path for place, line in enumerate(lines) for path in room.line(line.values, place))
    )


def style(place: int) -> str:
    """The class of the line at a place, by which its legend finds it."""
    return f"line-{place % STYLES + 1}"


def legend(place: int) -> SafeString:
    """A short piece of the line at a place."""
    return svg.picture("", 30, 8, svg.element("path", d="M0 4H30", class_=style(place)), class_="key")


def highest(lines: Sequence[Values]) -> float:
    """The highest number that is known, 0 where none is."""
    return max((value for values in lines for value in values if value is not None), default=0)


class _Room(msgspec.Struct, frozen=True):
    """The units that lines are drawn in."""

    wide: float
    high: float
    top: float

    def picture(self, label: str, kind: str, paths: Iterable[SafeString]) -> SafeString:
        return svg.picture(
            label,
            self.wide,
            self.high,
            *paths,
            class_=f"drawing {kind}",
            preserveAspectRatio="none",
            data_top=self.top,
        )

    def line(self, values: Values, place: int, *, area: bool = False) -> Iterator[SafeString]:
        """The paths of one line: what lies under it, and itself."""
        step = self.wide / (len(values) or 1)
        runs = [
            (begin * step, self._path(begin, known_values, step))
            for begin, known_values in _stretches(values)
        ]
        if area:
            filled = "".join(f"{path}V{svg.number(self.high)}H{svg.number(x)}Z" for x, path in runs)
            yield svg.element("path", d=filled, class_=f"area {style(place)}")
        yield svg.element("path", d="".join(path for _, path in runs), class_=style(place))

    def _path(self, begin: int, known_values: Values, step: float) -> str:
        """From the left side of its first step to the right side of its last: one alone is seen too."""
        heights = [svg.number(self._height(value or 0)) for value in known_values]
        points = "".join(
            f"L{svg.number((begin + place + 0.5) * step)} {height}" for place, height in enumerate(heights)
        )
        end = svg.number((begin + len(known_values)) * step)
        return f"M{svg.number(begin * step)} {heights[0]}{points}H{end}"

    def _height(self, value: float) -> float:
        return self.high - value / self.top * self.high if self.top else self.high


def _stretches(values: Values) -> Iterator[tuple[int, Values]]:
    """Each run of known values, with the step that it begins at."""
    begin: int | None = None
    for place, value in enumerate((*values, None)):
        if value is None:
            if begin is not None:
                yield begin, values[begin:place]
            begin = None
        elif begin is None:
            begin = place
