"""Counts with a bar beside the number, so that a column is compared at a glance."""

from __future__ import annotations

from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.web.drawing import bars
from zkdash.web.frame import cells
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html


class AgainstMean(Cell, frozen=True):
    """A count against the mean of `brokers` that have `total`: its bar is full at twice the mean, which is
    marked. `href` lists what is counted, `told` says how far it lies from the mean."""

    number: int
    total: int
    brokers: int
    href: str = ""
    told: str = ""

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        number = cells.number_html(self.number, self.href)
        kind = "num" if self.number else "num zero"
        if not self.total:
            return format_html('<td class="{}">{}</td>', kind, number)
        bar = bars.in_cell(self.number, 2 * self.total / self.brokers, "mid")
        title = format_html(' title="{}"', self.told) if self.told else ""
        return format_html('<td class="{}"{}>{}{}</td>', kind, title, number, bar)


class OutOf(Cell, frozen=True):
    """How many of `whole` are not as they should be; without a bar where none is."""

    number: int
    whole: int
    href: str

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        if not self.number:
            return format_html('<td class="num zero">{}</td>', self.number)
        return format_html(
            '<td class="num"><span class="{}">{}</span>{}</td>',
            Severity.WARNING.value,
            cells.number_html(self.number, self.href),
            bars.in_cell(self.number, self.whole, "out"),
        )
