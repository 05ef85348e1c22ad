"""Cells of values that are there: statuses, counts, numbers that name something, words, moments."""

from __future__ import annotations

from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.web.frame import times
from zkdash.web.frame.cells.cell import Cell, Plain, grouped
from zkdash.web.frame.markup import format_html, format_html_join


class Status(Cell, frozen=True):
    """Glyph, word and colour of a severity; `word` says more than the severity's own where there is more.

    `why` leads to what made it so.
    """

    severity: Severity
    word: str
    why: str = ""

    @property
    def plain(self) -> str:
        return self.severity.value

    def html(self) -> SafeString:
        shown = severity_html(self.severity, self.word)
        if not self.why:
            return format_html('<td class="status">{}</td>', shown)
        return format_html(
            '<td class="status"><a href="{}" title="Why is this so?">{}</a></td>', self.why, shown
        )


class Word(Cell, frozen=True):
    """A word with its severity, as which it stands in JSON too, where a status is but its severity."""

    word: str
    severity: Severity

    @property
    def plain(self) -> str:
        return self.word

    def html(self) -> SafeString:
        return Status(self.severity, self.word).html()


def severity_html(severity: Severity, word: str) -> SafeString:
    return format_html(
        '<span class="severity {}"><span aria-hidden="true">{}</span> {}</span>',
        severity.value,
        severity.glyph,
        word,
    )


def number_html(number: int, href: str = "") -> str:
    """A count, with the page that lists what is counted where there is something."""
    shown = grouped(number)
    return format_html('<a href="{}">{}</a>', href, shown) if href and number else shown


class Number(Cell, frozen=True):
    """A count; `alert` colours one that should be zero, `href` lists what is counted where something is."""

    number: int
    alert: Severity | None = None
    href: str = ""

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        shown = number_html(self.number, self.href)
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


class Zxid(Cell, frozen=True):
    """A transaction, as ZooKeeper's logs and tools write it: 0x500000012. In JSON and CSV the number.

    `href` is the cluster as it was after it.
    """

    number: int
    href: str = ""

    @property
    def plain(self) -> Plain:
        return self.number

    def html(self) -> SafeString:
        shown = f"{self.number:#x}"
        if self.href:
            return format_html('<td class="num"><a href="{}">{}</a></td>', self.href, shown)
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
    alert: Severity | None = None

    @property
    def plain(self) -> float:
        return self.share

    def html(self) -> SafeString:
        shown = f"{self.share:g}"
        if self.alert is not None:
            return format_html('<td class="num"><span class="{}">{}</span></td>', self.alert.value, shown)
        return format_html('<td class="num">{}</td>', shown)


class Rate(Cell, frozen=True):
    """A number that need not be whole, to three digits after the point: so many a second, so many seconds."""

    value: float

    @property
    def plain(self) -> float:
        return round(self.value, 3)

    def html(self) -> SafeString:
        return format_html('<td class="num">{}</td>', grouped(self.value))


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
        marks = format_html_join(
            " ", '<span class="severity info">{}</span>', ((word,) for word in self.words)
        )
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
