"""Keys, values and headers: which hold a text, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from zkdash.broker.messages.values import Data, Passes
from zkdash.web.frame.cells import texts
from zkdash.web.messages.query import AUTO, HEX, JSON, TEXT

NULL: Final = "null"
_LONG: Final = 1_000
_MANY_LINES: Final = 16
_BEGINNING: Final = 80


class Shown(msgspec.Struct, frozen=True):
    """What stands in place of a key or value: its text in the format `how`, or `why` there is none.

    `size` is its length in bytes, None of null. `is_cut` tells that it goes on.
    """

    size: int | None
    text: str = ""
    how: str = ""
    why: str = ""
    is_cut: bool = False

    @property
    def is_long(self) -> bool:
        """Whether it is opened rather than shown at once."""
        return len(self.text) > _LONG or self.text.count("\n") > _MANY_LINES

    @property
    def beginning(self) -> str:
        """What is shown of a long one before it is opened."""
        return " ".join(self.text[:_BEGINNING].split())

    @property
    def record(self) -> Mapping[str, object] | None:
        """The same for JSON; null of null."""
        if self.size is None:
            return None
        record: dict[str, object] = {"size": self.size, "text": None, "format": None, "cut": self.is_cut}
        if self.why:
            return {**record, "text_reason": self.why}
        return {**record, "text": self.text, "format": self.how}


def passing(text: str) -> Passes:
    """Whether a message holds a text in its key, value or headers; ASCII letters of any case are the same."""
    needle = text.encode("utf-8", "surrogatepass").lower()

    def passes(key: bytes | None, value: bytes | None, headers: tuple[tuple[str, bytes | None], ...]) -> bool:
        if not needle:
            return True
        pieces = (key, value, *(piece for name, data in headers for piece in (name.encode(), data)))
        return any(needle in piece.lower() for piece in pieces if piece)

    return passes


def shown(data: Data | None, how: str, *, is_masked: bool) -> Shown:
    """A key, value or header's value in the format that was asked for, or what it is."""
    if data is None:
        return Shown(None, why=NULL)
    if is_masked:
        return Shown(data.size, why="masked")
    if data.size and not data.kept:
        return Shown(data.size, why="too much for one page: ask for fewer messages", is_cut=True)
    return _formatted(data, how)


def _formatted(data: Data, how: str) -> Shown:
    is_cut = len(data.kept) < data.size
    if how in {AUTO, JSON} and (pretty := texts.pretty(data.kept)):
        return Shown(data.size, pretty, JSON, is_cut=is_cut)
    text = _begun(data.kept) if is_cut else texts.of_bytes(data.kept)
    if text is None and how in {TEXT, JSON}:
        text = data.kept.decode(errors="backslashreplace")
    if how != HEX and text is not None:
        return Shown(data.size, texts.visible(text, texts.KEPT), TEXT, is_cut=is_cut)
    first = data.kept[: texts.MOST_HEX]
    return Shown(data.size, texts.hex_dump(first), HEX, is_cut=len(first) < data.size)


def _begun(data: bytes) -> str | None:
    """The text that begins with some bytes, the last of which may be half of a character."""
    for cut in range(4):
        text = texts.of_bytes(data[: len(data) - cut])
        if text is not None:
            return text
    return None
