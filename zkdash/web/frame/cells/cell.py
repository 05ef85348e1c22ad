"""What a table's cell is: a value that says how it looks in HTML and what it is in JSON and CSV."""

from __future__ import annotations

from typing import Any

import msgspec
from django.utils.safestring import SafeString

Plain = str | int | float | bool | None | list[int] | list[str] | dict[str, int]
Record = dict[str, Any]

_NARROW_SPACE = "\u202f"


def grouped(number: float) -> str:
    """A number with its thousands set apart by a narrow space, and at most three digits after the point."""
    text = f"{number:,}" if isinstance(number, int) else f"{number:,.3f}".rstrip("0").rstrip(".")
    return text.replace(",", _NARROW_SPACE)


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
