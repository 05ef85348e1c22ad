"""HTML from values, escaped: as Django's functions of the same names make it, at a quarter of their cost.

A page has some hundreds of values. Django's take each through five calls, since it may be lazy, or an object
that makes HTML itself; nearly all of ours are text and numbers, and tell by their type.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

__all__ = ["escape", "escaped", "format_html", "format_html_join"]


def escaped(value: Any) -> str:
    """A value as HTML has it; what is HTML already stays as it is."""
    kind = type(value)
    if kind is str:
        return escape(value)
    if kind is SafeString or kind is int:
        return str(value)
    return conditional_escape(value)


def format_html(pattern: str, *values: object) -> SafeString:
    """The pattern, which is HTML, with values in it that need not be."""
    return SafeString(pattern.format(*map(escaped, values)))


def format_html_join(separator: str, pattern: str, rows: Iterable[Iterable[Any]]) -> SafeString:
    """The pattern once for each tuple of values."""
    return SafeString(escaped(separator).join([pattern.format(*map(escaped, values)) for values in rows]))
