"""Instants as pages write them: always UTC, from epoch milliseconds."""

from __future__ import annotations

import datetime

from django.utils.safestring import SafeString

from zkdash.web.frame.markup import format_html


def utc(epoch_ms: int) -> datetime.datetime | None:
    """The instant, None where a clock wrote something that no calendar holds."""
    try:
        return datetime.datetime.fromtimestamp(epoch_ms / 1000, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return None


def utc_text(epoch_ms: int) -> str | None:
    """`2026-11-21T10:42:07.123Z`, as JSON and `<time>` write it."""
    moment = utc(epoch_ms)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{epoch_ms % 1000:03d}Z"


def time_html(epoch_ms: int) -> SafeString:
    """A `<time>` in UTC, which the script words as an age."""
    text = utc_text(epoch_ms)
    if text is None:
        return format_html("{} ms", epoch_ms)
    shown = text[:10] + " " + text[11:19]
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>', text, text[:-1].replace("T", " "), shown
    )


def span_text(ms: int) -> str:
    """A length of time in its two largest units: `under 1 s`, `2.1 s`, `4 min 10 s`, `2 d 4 h`."""
    if ms < 1000:
        return "under 1 s"
    seconds = ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = int(seconds)
    for size, unit, part, smaller in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit} {rest} {smaller}" if rest else f"{whole // size} {unit}"
    raise AssertionError("over a minute it has a unit")
