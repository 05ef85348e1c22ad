"""Instants as pages write them: always UTC, from epoch milliseconds."""

from __future__ import annotations

import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString


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
