"""Values that are one line of text: numbers and names."""

from __future__ import annotations

import re

from zkdash.kafka.documents.document import LONG_MAX, Parsed, unparsable

# Kafka and its consumers write at most some hundred bytes on one line; what is longer is no such value.
LONGEST = 4096

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NUMBER = re.compile(rb"[+-]?[0-9]{1,19}")


def parse_text(data: bytes | None, what: str) -> Parsed[str]:
    """One line of UTF-8 text; `what` names it in the sentence. Control characters are kept and noted."""
    if not data:
        return unparsable(f"empty where {what} belongs")
    if len(data) > LONGEST:
        return unparsable(f"{len(data)} bytes where {what} belongs")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return unparsable(f"not UTF-8 text where {what} belongs")
    return text, (f"control characters in {what}",) if _CONTROL.search(text) else ()


def parse_number(data: bytes | None, what: str, *, low: int = 0, high: int = LONG_MAX) -> Parsed[int]:
    """A decimal number; one outside low to high is a value with a reason."""
    if not data:
        return unparsable(f"empty where {what} belongs")
    if not _NUMBER.fullmatch(data):
        return unparsable(f"not a number where {what} belongs")
    number = int(data)
    if low <= number <= high:
        return number, ()
    return number, (f"{what} is {low} to {high}, not {number}",)
