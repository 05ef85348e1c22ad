"""How large the measured trees are, and how long the measured stretches."""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """What a generated tree holds: topics of so many partitions each, and groups."""

    topics: int
    partitions: int
    groups: int

    def __str__(self) -> str:
        return f"{self.topics} topics × {self.partitions} partitions, {self.groups} groups"

    def tenth(self) -> Shape:
        """The same with a tenth of the topics and groups."""
        return self._replace(topics=max(1, self.topics // 10), groups=max(1, self.groups // 10))

    @property
    def all_partitions(self) -> int:
        return self.topics * self.partitions


class Size(NamedTuple):
    """One size of the bench.

    `whole` is the tree of the first load and of a change's cost, `few` what the latter is compared
    with, `offsets` the tree whose groups commit. `seconds` is how long changes are written.
    """

    name: str
    whole: Shape
    few: Shape
    offsets: Shape
    seconds: float
    heap_mb: int


SIZES = {
    size.name: size
    for size in (
        Size("reference", Shape(10_000, 20, 1_000), Shape(100, 20, 10), Shape(100, 20, 7_500), 10.0, 512),
        Size("small", Shape(500, 20, 50), Shape(50, 20, 5), Shape(20, 20, 375), 0.5, 256),
    )
}
