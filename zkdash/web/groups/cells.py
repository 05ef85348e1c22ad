"""Cells that only the pages of groups have."""

from __future__ import annotations

import re

from django.utils.safestring import SafeString, mark_safe

from zkdash.kafka import paths
from zkdash.web.frame.cells import Cell, Range, grouped
from zkdash.web.frame.markup import format_html

# When a consumer started, before the eight digits that make its id unique.
_START = re.compile(r"-[0-9]{10,19}-([0-9a-f]{8}(?:-[0-9]+)?)$")


class Owned(Cell, frozen=True):
    """How many partitions are owned, of how many; `of` is None where it is not known, and `why` says why."""

    owned: int
    of: int | None
    why: str = ""

    @property
    def plain(self) -> int:
        return self.owned

    def html(self) -> SafeString:
        if self.of is None:
            return format_html(
                '<td class="num">{} / <span class="missing" title="{}">unknown</span></td>',
                grouped(self.owned),
                self.why,
            )
        kind = "num" if self.owned or self.of else "num zero"
        return format_html('<td class="{}">{} / {}</td>', kind, grouped(self.owned), grouped(self.of))


class Threads(Cell, frozen=True):
    """How many threads a member has for each topic, or for its one pattern: here the smallest and the largest
    number, in JSON all of them by name."""

    counts: tuple[tuple[str, int], ...]

    @property
    def plain(self) -> dict[str, int]:
        return dict(self.counts)

    def html(self) -> SafeString:
        numbers = [number for _, number in self.counts]
        return Range(min(numbers), max(numbers)).html()


class Thread(Cell, frozen=True):
    """A consumer's thread (or the consumer), shown without its group and its start; whole in the title.

    `gone` says that no such member is registered, `is_head` that the row is about it.
    """

    id: str
    shown: str
    gone: bool = False
    is_head: bool = False

    @property
    def plain(self) -> str:
        return self.id

    def html(self) -> SafeString:
        shown = format_html(
            '<span class="{}" title="{}"><bdi>{}</bdi></span> '
            '<button type="button" class="copy" data-copy="{}" aria-label="Copy id">Copy</button>',
            "gone" if self.gone else "id",
            "not registered" if self.gone else self.id,
            self.shown,
            self.id,
        )
        if self.is_head:
            return format_html('<th scope="row" class="thread">{}</th>', shown)
        return format_html('<td class="thread">{}</td>', shown)


class Same(Cell, frozen=True):
    """An expected owner that is the owner."""

    id: str

    @property
    def plain(self) -> str:
        return self.id

    def html(self) -> SafeString:
        return mark_safe('<td class="missing">same</td>')


class Key(Cell, frozen=True):
    """A partition as owners name it: a number, in 0.7 "broker-part"."""

    key: str

    @property
    def plain(self) -> str | int:
        return int(self.key) if paths.is_id(self.key) else self.key

    def html(self) -> SafeString:
        return format_html('<td class="num">{}</td>', self.key)


def short(identifier: str, group: str) -> str:
    """A consumer or thread id without what all of the group's have in common: `host-…-1a2b3c4d-0`."""
    return _START.sub(r"-…-\1", identifier.removeprefix(f"{group}_"))
