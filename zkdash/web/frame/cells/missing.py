"""Cells without a value, by why there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.utils.safestring import SafeString

from zkdash.kafka.values import Unparsable
from zkdash.web.frame.cells.cell import Cell
from zkdash.web.frame.markup import format_html
from zkdash.znode import Unreadable

T = TypeVar("T")

_UNPARSABLE = "?"


class Missing(Cell, frozen=True):
    """No value: `shown` is the sign, `why` a sentence for the title and for JSON's reason.

    `href` leads to more about it.
    """

    shown: str
    why: str
    is_number: bool = False
    href: str = ""

    @property
    def plain(self) -> None:
        return None

    @property
    def reason(self) -> str:
        return self.why

    @property
    def is_unparsable(self) -> bool:
        return self.shown == _UNPARSABLE

    def html(self) -> SafeString:
        kind = "missing num" if self.is_number else "missing"
        if self.href:
            return format_html(
                '<td class="{}"><a href="{}" title="{}">{}</a></td>', kind, self.href, self.why, self.shown
            )
        return format_html('<td class="{}"><span title="{}">{}</span></td>', kind, self.why, self.shown)


def absent(why: str) -> Missing:
    return Missing(shown="—", why=why)


def unknown(why: str) -> Missing:
    return Missing(shown="unknown", why=why)


def unparsable(value: Unparsable | Unreadable) -> Missing:
    """`?` for what does not parse; a refused znode is not readable, which is something else."""
    if isinstance(value, Unreadable):
        return Missing(shown="not readable", why=value.reason)
    return Missing(shown=_UNPARSABLE, why=value.reason)


def known(value: T | Unparsable | Unreadable | None, cell: Callable[[T], Cell], why_absent: str) -> Cell:
    """The cell of a value, or the right kind of "no value"."""
    if value is None:
        return absent(why_absent)
    if isinstance(value, Unparsable | Unreadable):
        return unparsable(value)
    return cell(value)
