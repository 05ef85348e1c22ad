"""Cells of configurations and rights: whose they are, settings (some are hidden), and when one ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.utils.safestring import SafeString

from zkdash.kafka import secrets
from zkdash.web.frame import shapes, times
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html, format_html_join

# What may not be read, as JSON has it.
UNREADABLE: Final = shapes.many(shapes.fields(path=shapes.TEXT, reason=shapes.TEXT))
WITHHELD: Final = "it may be a secret, so its value is never read into zkdash"
_BREAK = SafeString("<br>")


class Entity(Cell, frozen=True):
    """The name that the row is about, with its page where it has one."""

    text: str
    href: str = ""

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        shown = format_html("<bdi>{}</bdi>", self.text)
        if self.href:
            shown = format_html('<a href="{}">{}</a>', self.href, shown)
        return format_html('<th scope="row" class="name">{}</th>', shown)


class Settings(Cell, frozen=True):
    """Names and values, one on a line."""

    settings: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, settings: Iterable[tuple[str, str]]) -> Settings:
        return cls(tuple(sorted(settings)))

    @property
    def plain(self) -> list[str]:
        """`name=value`; of a hidden one the name, and that it is hidden."""
        return [
            f"{name} hidden" if text == secrets.HIDDEN else f"{name}={text}" for name, text in self.settings
        ]

    def html(self) -> SafeString:
        lines = ((name, _told(text)) for name, text in self.settings)
        return format_html(
            '<td class="raw">{}</td>', format_html_join(_BREAK, "<code><bdi>{}</bdi></code> {}", lines)
        )


class End(Cell, frozen=True):
    """An instant in epoch milliseconds that may lie ahead, so that nobody words its age."""

    epoch_ms: int

    @property
    def plain(self) -> str | None:
        return times.utc_text(self.epoch_ms)

    @property
    def reason(self) -> str | None:
        return "the time is outside the calendar" if self.plain is None else None

    def html(self) -> SafeString:
        text = times.utc_text(self.epoch_ms)
        shown = f"{self.epoch_ms} ms" if text is None else f"{text[:10]} {text[11:19]} UTC"
        return format_html('<td class="when">{}</td>', shown)


def _told(text: str) -> SafeString:
    if text == secrets.HIDDEN:
        return format_html('<span class="missing" title="{}">hidden</span>', WITHHELD)
    return format_html("= <code><bdi>{}</bdi></code>", text)
