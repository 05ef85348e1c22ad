"""What a row of the bench found: figures by side, and the goals they are held against."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

Number = int | float


class Kept(NamedTuple):
    """What a goal that is not reached is kept to meanwhile, by the decision of that number."""

    limit: Number
    decision: int


class Goal(NamedTuple):
    """A figure with its limit. `at_least` tells on which side of it the figure must be.

    One that `is_of_core` is in the time of a core, or is what a core does in a time: it is held to its limit
    as it would have been on the reference core, `slowness` times as fast as this one (`bench.core`).
    """

    what: str
    value: Number
    limit: Number
    at_least: bool = False
    kept: Kept | None = None
    is_of_core: bool = False
    slowness: float = 1.0

    @property
    def on_reference(self) -> Number:
        """The figure as it would have been on the reference core."""
        if not self.is_of_core:
            return self.value
        return self.value * self.slowness if self.at_least else self.value / self.slowness

    @property
    def is_met(self) -> bool:
        return self._is_within(self.limit)

    @property
    def is_kept(self) -> bool:
        """Whether it is met, or as near to it as was decided: `--check` asks for this."""
        return self.is_met or (self.kept is not None and self._is_within(self.kept.limit))

    @property
    def sentence(self) -> str:
        bound = "≥" if self.at_least else "≤"
        there = f", {_shown(self.on_reference)} on the reference core" if self.is_of_core else ""
        told = f"{self.what}: {_shown(self.value)}{there} (goal {bound} {_shown(self.limit)}"
        if self.is_met or self.kept is None:
            return f"{told})"
        return f"{told}; decision {self.kept.decision} keeps {bound} {_shown(self.kept.limit)})"

    @property
    def word(self) -> str:
        return "met" if self.is_met else "kept" if self.is_kept else "NOT MET"

    def _is_within(self, limit: Number) -> bool:
        return self.on_reference >= limit if self.at_least else self.on_reference <= limit


class Result(NamedTuple):
    """One row: `sides` maps a side ("zkdash", "kazoo TreeCache") to its figures by name and unit."""

    row: str
    size: str
    sides: Mapping[str, Mapping[str, Number]]
    goals: tuple[Goal, ...]
    slowness: float = 1.0

    def on_core(self, slowness: float) -> Result:
        """This row, measured on a core that takes so many times as long as the reference core."""
        goals = tuple(goal._replace(slowness=slowness) for goal in self.goals)
        return self._replace(goals=goals, slowness=slowness)

    @property
    def json(self) -> str:
        """One line."""
        sides = {
            side: {name: round(value, 4) for name, value in figures.items()}
            for side, figures in self.sides.items()
        }
        goals = [
            {
                "goal": goal.what,
                "value": round(goal.value, 4),
                "on_reference": round(goal.on_reference, 4),
                "limit": goal.limit,
                "met": goal.is_met,
                "kept": goal.is_kept,
            }
            for goal in self.goals
        ]
        return json.dumps(
            {
                "row": self.row,
                "size": self.size,
                "slowness": round(self.slowness, 2),
                "sides": sides,
                "goals": goals,
            },
            ensure_ascii=False,
        )


def table(results: Iterable[Result]) -> str:
    """All figures and goals, for a person."""
    lines = []
    for result in results:
        lines.append(
            f"\n{result.row} ({result.size}; a core takes {result.slowness:.2f} × the reference core's time)"
        )
        names = list(dict.fromkeys(name for figures in result.sides.values() for name in figures))
        cells = [["", *result.sides]]
        for name in names:
            shown = [_shown(figures[name]) if name in figures else "" for figures in result.sides.values()]
            cells.append([name, *shown])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for first, *others in cells:
            figures = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
            lines.append("  ".join(["", first.ljust(widths[0]), *figures]).rstrip())
        lines.extend(f"  {goal.word:7} {goal.sentence}" for goal in result.goals)
    return "\n".join(lines)


def _shown(value: Number) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.3g}"
