"""Cells that show brokers by their ids: leader, replicas, ISR."""

from __future__ import annotations

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from zkdash.web.cells import Cell


class NoLeader(Cell, frozen=True):
    """What the znode holds where a partition has no leader."""

    @property
    def plain(self) -> int:
        return -1

    def html(self) -> SafeString:
        return format_html('<td class="num"><span class="critical" title="leader {}">none</span></td>', -1)


class Replicas(Cell, frozen=True):
    """Broker ids in the order of the assignment, preferred leader first; `dead` ones are not registered."""

    brokers: tuple[int, ...]
    dead: frozenset[int] = frozenset()

    @property
    def plain(self) -> list[int]:
        return list(self.brokers)

    def html(self) -> SafeString:
        return format_html(
            '<td class="ids">{}</td>', _joined([self._one(i) for i in range(len(self.brokers))])
        )

    def _one(self, index: int) -> SafeString:
        broker = self.brokers[index]
        shown = format_html("<strong>{}</strong>", broker) if index == 0 else conditional_escape(str(broker))
        if broker in self.dead:
            return format_html(
                '<span class="gone" title="broker {} is not registered">{}</span>', broker, shown
            )
        return shown


class InSync(Cell, frozen=True):
    """The ISR, and after it the assigned replicas that are out of it, struck through and labelled."""

    brokers: tuple[int, ...]
    out: tuple[int, ...] = ()

    @property
    def plain(self) -> list[int]:
        return list(self.brokers)

    def html(self) -> SafeString:
        inside = [conditional_escape(str(broker)) for broker in self.brokers]
        outside = [format_html('<span class="out"><s>{}</s> out</span>', broker) for broker in self.out]
        return format_html('<td class="ids">{}</td>', _joined(inside + outside))


def _joined(items: list[SafeString]) -> SafeString:
    return format_html_join(" ", "{}", ((item,) for item in items))
