"""How large the measured trees are, and how long the measured stretches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tests.lab.zookeeper import BUNDLED


class Shape(NamedTuple):
    """What a generated tree holds: topics of so many partitions each, live groups, and dead ones."""

    topics: int
    partitions: int
    groups: int
    dead: int = 0

    def __str__(self) -> str:
        dead = f" and {self.dead} dead ones" if self.dead else ""
        return f"{self.topics} topics × {self.partitions} partitions, {self.groups} groups{dead}"

    def tenth(self) -> Shape:
        """The same with a tenth of the topics and groups."""
        return self._replace(
            topics=max(1, self.topics // 10), groups=max(1, self.groups // 10), dead=self.dead // 10
        )

    @property
    def all_partitions(self) -> int:
        return self.topics * self.partitions


class Size(NamedTuple):
    """One size of the bench.

    `whole` is the tree of the first load and of a change's cost, `few` what the latter is compared with,
    `groups` the tree with very many groups. `seconds` is how long changes are written, `transactions` how
    many the logs hold. `small_clusters` is how many one process follows, and `quiet_s` how long it is left
    alone. `scale` are the numbers of partitions that figures are drawn over. `large` are the trees of the
    row of that name, `burst` how many changes come at once. `segment` is how many bytes a segment of
    Kafka's holds. `changes` were recorded within `days`; `month_changes` within `month_days` are those of a
    long history, of which only what pages read is written. `zookeeper` is the release that serves.
    """

    name: str
    whole: Shape
    few: Shape
    groups: Shape
    seconds: float
    heap_mb: int
    transactions: int
    small_clusters: int
    quiet_s: float
    scale: tuple[int, ...]
    large: Mapping[str, Shape]
    burst: int
    segment: int
    changes: int
    days: int
    month_changes: int
    month_days: int
    zookeeper: str = BUNDLED


SIZES = {
    size.name: size
    for size in (
        Size(
            "reference",
            whole=Shape(10_000, 20, 1_000),
            few=Shape(100, 20, 10),
            groups=Shape(1_000, 20, 7_500, 7_500),
            seconds=10.0,
            heap_mb=512,
            transactions=1_200_000,
            small_clusters=200,
            quiet_s=60.0,
            scale=(1_000, 4_000, 20_000, 80_000, 200_000, 400_000),
            large={
                "2,000,000 znodes": Shape(20_000, 20, 15_000, 8_000),
                "topics of 10,000 partitions": Shape(2, 10_000, 2),
                "100,000 children": Shape(100_000, 1, 2),
            },
            burst=50_000,
            segment=1 << 30,
            changes=5_000_000,
            days=30,
            month_changes=100_000_000,
            month_days=30,
        ),
        Size(
            "small",
            whole=Shape(500, 20, 50),
            few=Shape(50, 20, 5),
            groups=Shape(50, 20, 200, 200),
            seconds=0.5,
            heap_mb=256,
            transactions=20_000,
            small_clusters=5,
            quiet_s=5.0,
            scale=(1_000, 2_000, 4_000),
            large={
                "20,000 znodes": Shape(200, 20, 150, 80),
                "topics of 100 partitions": Shape(2, 100, 2),
                "1,000 children": Shape(1_000, 1, 2),
            },
            burst=500,
            segment=128 << 20,
            changes=60_000,
            days=6,
            month_changes=300_000,
            month_days=2,
        ),
    )
}
