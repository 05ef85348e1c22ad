"""What stands above a page's tables: what something is, line by line."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.web.frame import cells, times
from zkdash.web.frame.markup import format_html, format_html_join


class Fact(msgspec.Struct, frozen=True):
    """One line: `value` is text, or what the functions below make.

    `how` says how it was computed; or, where `is_missing`, why it is not known.
    """

    label: str
    value: str
    how: str = ""
    is_missing: bool = False


class Note(msgspec.Struct, frozen=True):
    """A sentence below the lines: to be heeded, or for information only."""

    text: str
    is_info: bool = False


class Explanation(msgspec.Struct, frozen=True):
    """Sentences that can be opened, below all else."""

    id: str
    summary: str
    sentences: tuple[str, ...]


class Facts(msgspec.Struct, frozen=True):
    """What the template draws. `gone` is the sentence where there is no such thing."""

    name: str
    gone: str = ""
    facts: tuple[Fact, ...] = ()
    notes: tuple[Note, ...] = ()
    explanation: Explanation | None = None


def status_line(severity: Severity, words: str, marks: Iterable[str] = (), why: str = "") -> Fact:
    """The first line: how it is, and what else is so; `why` leads to what made it so."""
    beside = format_html_join("", ' <span class="severity info">{}</span>', ((mark,) for mark in marks))
    if why:
        beside += format_html(' <a href="{}">Why is this so?</a>', why)
    return Fact("Status", cells.severity_html(severity, words) + beside)


def words(*texts: str, href: str = "", severity: Severity | None = None) -> SafeString:
    """Texts, each on a line of its own; `href` lists what was counted."""
    opened = format_html('<span class="severity {}">', severity.value) if severity else SafeString("<span>")
    return format_html_join(
        SafeString("<br>"), "{}{}</span>", ((opened, text(words, href)) for words in texts)
    )


def text(value: str, href: str = "") -> SafeString:
    """Text of the cluster's own, with its page where it has one."""
    if href:
        return format_html('<a href="{}">{}</a>', href, value)
    return format_html("<bdi>{}</bdi>", value)


def path(value: str) -> SafeString:
    """Something with a copy button."""
    return cells.path_html(value)


def moment(epoch_ms: int) -> SafeString:
    """An instant, which the script words as an age."""
    return times.time_html(epoch_ms)


def listed(items: Iterable[SafeString], more: int = 0) -> SafeString:
    """Items one after the other, and how many are left out."""
    beyond = f" and {more} more" if more else ""
    return format_html("{}{}", format_html_join(", ", "{}", ((item,) for item in items)), beyond)
