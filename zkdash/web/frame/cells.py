"""The values that a table's cells show: each says how it looks in HTML and what it is in JSON and CSV.

A cell is compared by value: it holds an instant, never an age. Three kinds of "no value" stay apart:
absent in ZooKeeper `—`, unparsable `?`, and `unknown` (ZooKeeper cannot tell).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from zkdash.cluster.model.tone import Tone
from zkdash.kafka.values import Unparsable
from zkdash.web.frame import links, times
from zkdash.znode import Unreadable

T = TypeVar("T")
Plain = str | int | float | bool | None | list[int] | list[str] | dict[str, int]
Record = dict[str, Any]

_NARROW_SPACE = "\u202f"
_UNPARSABLE = "?"


def grouped(number: int) -> str:
    """An integer with its thousands set apart by a narrow space."""
    return f"{number:,}".replace(",", _NARROW_SPACE)


class Cell(msgspec.Struct, frozen=True):
    """What a column shows of one row."""

    @property
    def plain(self) -> Plain:
        """The value in JSON and CSV."""
        raise NotImplementedError

    @property
    def reason(self) -> str | None:
        """Why the plain value is null."""
        return None

    def html(self) -> SafeString:
        """The whole table cell."""
        raise NotImplementedError


class Status(Cell, frozen=True):
    """Glyph, word and colour of a tone; `word` says more than the tone's own where there is more."""

    tone: Tone
    word: str

    @property
    def plain(self) -> str:
        return self.tone.value

    def html(self) -> SafeString:
        return format_html('<td class="status">{}</td>', tone_html(self.tone, self.word))


class Word(Cell, frozen=True):
    """A word with its tone, as which it stands in JSON too, where a status is but its tone."""

    word: str
    tone: Tone

    @property
    def plain(self) -> str:
        return self.word

    def html(self) -> SafeString:
        return Status(self.tone, self.word).html()


def tone_html(tone: Tone, word: str) -> SafeString:
    return format_html(
        '<span class="tone {}"><span aria-hidden="true">{}</span> {}</span>', tone.value, tone.glyph, word
    )


class Name(Cell, frozen=True):
    """The name that the row is about, with its page."""

    text: str
    href: str

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        return format_html(
            '<th scope="row" class="name"><a href="{}"><bdi>{}</bdi></a></th>', self.href, self.text
        )


class Head(Cell, frozen=True):
    """The number that the row is about (a partition, a broker)."""

    number: int

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        return format_html('<th scope="row" class="num">{}</th>', self.number)


class Number(Cell, frozen=True):
    """A count; `alert` colours one that should be zero, `href` lists what is counted where something is."""

    number: int
    alert: Tone | None = None
    href: str = ""

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        shown = grouped(self.number)
        if self.href and self.number:
            shown = format_html('<a href="{}">{}</a>', self.href, shown)
        if self.alert is not None and self.number:
            return format_html('<td class="num"><span class="{}">{}</span></td>', self.alert.value, shown)
        return format_html('<td class="{}">{}</td>', "num" if self.number else "num zero", shown)


class Id(Cell, frozen=True):
    """A number that names something, or is compared and not counted; `gone` says that the broker is dead.

    `href` is the page of what it names.
    """

    number: int
    gone: bool = False
    href: str = ""

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        shown: int | SafeString = self.number
        if self.href:
            shown = format_html('<a href="{}">{}</a>', self.href, self.number)
        if self.gone:
            return format_html(
                '<td class="num"><span class="gone" title="broker {} is not registered">{}</span></td>',
                self.number,
                shown,
            )
        return format_html('<td class="num">{}</td>', shown)


class Range(Cell, frozen=True):
    """A number that may differ inside the row: smallest and largest. In JSON the smallest."""

    low: int
    high: int

    @property
    def plain(self) -> int:
        return self.low

    def html(self) -> SafeString:
        shown = str(self.low) if self.low == self.high else f"{self.low}–{self.high}"
        return format_html('<td class="num">{}</td>', shown)


class Percent(Cell, frozen=True):
    """A share of a hundred; `alert` colours one that is too large."""

    share: float
    alert: Tone | None = None

    @property
    def plain(self) -> float:
        return self.share

    def html(self) -> SafeString:
        shown = f"{self.share:g}"
        if self.alert is not None:
            return format_html('<td class="num"><span class="{}">{}</span></td>', self.alert.value, shown)
        return format_html('<td class="num">{}</td>', shown)


class Text(Cell, frozen=True):
    """Words of ours or of somebody else's."""

    text: str

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        return format_html('<td class="text"><bdi>{}</bdi></td>', self.text)


class Marks(Cell, frozen=True):
    """Words that are true of a row (deleting, reassigning)."""

    words: tuple[str, ...]

    @property
    def plain(self) -> list[str]:
        return list(self.words)

    def html(self) -> SafeString:
        marks = format_html_join(" ", '<span class="tone info">{}</span>', ((word,) for word in self.words))
        return format_html("<td>{}</td>", marks)


class Moment(Cell, frozen=True):
    """An instant in epoch milliseconds."""

    epoch_ms: int

    @property
    def plain(self) -> str | None:
        return times.utc_text(self.epoch_ms)

    @property
    def reason(self) -> str | None:
        return "the znode's time is outside the calendar" if self.plain is None else None

    def html(self) -> SafeString:
        return format_html('<td class="when">{}</td>', times.time_html(self.epoch_ms))


class Path(Cell, frozen=True):
    """A znode's path, with its copy button; `is_head` where the row is about the znode itself.

    Where its `cluster` is named it leads to the browser.
    """

    path: str
    is_head: bool = False
    cluster: str = ""

    @property
    def plain(self) -> str:
        return self.path

    def html(self) -> SafeString:
        shown = path_html(self.path, links.znode(self.cluster, self.path) if self.cluster else "")
        if self.is_head:
            return format_html('<th scope="row" class="path">{}</th>', shown)
        return format_html('<td class="path">{}</td>', shown)


def path_html(path: str, href: str = "") -> SafeString:
    shown = format_html("<code><bdi>{}</bdi></code>", path)
    return format_html(
        '{} <button type="button" class="copy" data-copy="{}" aria-label="Copy {}">Copy</button>',
        format_html('<a href="{}">{}</a>', href, shown) if href else shown,
        path,
        path,
    )


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


class RowName(Cell, frozen=True):
    """The name that the row is about, which has no page of its own."""

    text: str

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        return format_html('<th scope="row" class="name"><bdi>{}</bdi></th>', self.text)
