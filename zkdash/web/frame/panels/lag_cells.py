"""Cells that tell how far a group, or the groups of a topic, are behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.utils.safestring import SafeString

from zkdash.cluster.model.brokers import lags
from zkdash.cluster.model.brokers.lags import GroupLag, TopicConsumers, TopicLag
from zkdash.web.drawing import series
from zkdash.web.frame import cells
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.tables import Column

R = TypeVar("R")


class Trend(Cell, frozen=True):
    """Where a lag is going, by its last values, oldest first."""

    values: tuple[int | None, ...]

    @property
    def plain(self) -> str | None:
        return lags.direction(self.values) or None

    @property
    def reason(self) -> str | None:
        return _TOO_FEW if self.plain is None else None

    def html(self) -> SafeString:
        word = self.plain
        if word is None:
            return cells.unknown(_TOO_FEW).html()
        words = ", ".join("unknown" if value is None else cells.grouped(value) for value in self.values)
        line = series.sparkline(self.values, label=f"{word}: {words}")
        return format_html('<td class="trend" title="{}: {}">{}</td>', word, words, line)


_TOO_FEW = "the lag was sampled too seldom so far to tell"


def number(lag: GroupLag | TopicLag) -> Cell:
    """A lag, or why there is none."""
    if lag.lag is not None:
        return cells.Number(lag.lag)
    if lag.least:
        return cells.unknown(f"at least {cells.grouped(lag.least)}; {lag.reason}")
    return _nothing(lag)


def _nothing(lag: GroupLag | TopicLag) -> Cell:
    """Who committed nothing has no lag; of others it is not known."""
    return cells.absent(lag.reason) if lag.reason == lags.NOTHING_COMMITTED else cells.unknown(lag.reason)


def worst(lag: GroupLag | TopicLag) -> Cell:
    """The lag of the partition that is furthest behind, of those that are known."""
    return _nothing(lag) if lag.worst is None else Worst(*lag.worst)


class Worst(Cell, frozen=True):
    """The lag of a partition, which is named in the title."""

    lag: int
    topic: str
    partition: str

    @property
    def plain(self) -> int:
        return self.lag

    def html(self) -> SafeString:
        return format_html(
            '<td class="{}"><span title="partition {} of {}">{}</span></td>',
            "num" if self.lag else "num zero",
            self.partition,
            self.topic,
            cells.grouped(self.lag),
        )


def sampled(lag: GroupLag | TopicLag) -> Cell:
    """When the oldest answer came that a lag is made of."""
    if lag.as_of is None:
        return _nothing(lag)
    return cells.Moment(int(lag.as_of) * 1000)


def columns(lag: Callable[[R], TopicLag]) -> tuple[Column[R], ...]:
    """What a table of the lags of one group, or of one topic, says of each: `lag` takes it from a row."""
    return (
        Column("lag", "Lag", lambda row: number(lag(row)), is_number=True),
        Column(
            "worst_lag",
            "Worst partition",
            lambda row: worst(lag(row)),
            is_number=True,
            title="the lag of the partition that is furthest behind",
        ),
        Column(
            "lag_as_of",
            "Lag as of",
            lambda row: sampled(lag(row)),
            title="when the oldest answer came that the lag is made of",
        ),
    )


class OfTopic(Cell, frozen=True):
    """What all groups of a topic have left to read; `furthest` names some of them, with their lag."""

    least: int
    furthest: tuple[tuple[str, int], ...]

    @property
    def plain(self) -> int:
        return self.least

    def html(self) -> SafeString:
        words = "; ".join(f"{group}: {cells.grouped(lag)}" for group, lag in self.furthest)
        return format_html(
            '<td class="{}"><span title="{}">{}</span></td>',
            "num" if self.least else "num zero",
            words or "no group is behind",
            cells.grouped(self.least),
        )


_FURTHEST = 5


def of_topic(consumers: TopicConsumers | None, otherwise: str) -> Cell:
    """The lag of a topic's groups, unknown where none is told."""
    if consumers is None:
        return cells.absent("no group is known to have committed an offset of it")
    if consumers.as_of is None:
        return cells.unknown(next((lag.reason for lag in consumers.by_group.values()), otherwise))
    return OfTopic(consumers.least, tuple(consumers.furthest(_FURTHEST)))
