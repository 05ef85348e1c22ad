"""What a znode holds, as text that a page can show: nothing in it hides, moves or acts."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from zkdash.web.frame.cells import texts
from zkdash.web.frame.cells.texts import KEPT, MOST_HEX, MOST_TEXT, hex_dump, visible
from zkdash.znode import Unreadable, Znode

_MOST_FIELD: Final = 400


class Value(msgspec.Struct, frozen=True):
    """A znode's data: `text` as it is or as a hex dump, or `why` there is none.

    `size` counts the bytes that are held, `shown` those that `text` tells of.
    """

    text: str = ""
    is_binary: bool = False
    size: int = 0
    shown: int = 0
    why: str = ""

    @property
    def is_cut(self) -> bool:
        return self.shown < self.size


def name(text: str) -> str:
    """A znode's name or path: spaces at its ends, which HTML would lose, are escaped too."""
    inner = text.strip(" ")
    before, after = len(text) - len(text.lstrip(" ")), len(text) - len(text.rstrip(" "))
    if not inner:
        return r"\x20" * len(text)
    return r"\x20" * before + visible(inner) + r"\x20" * after


def value(read: Znode | Unreadable | None, why_none: str) -> Value:
    """The data of a znode; `why_none` says why it is not known."""
    if read is None:
        return Value(why=why_none)
    if isinstance(read, Unreadable):
        return Value(why=read.reason)
    data = read.data
    if data is None:
        return Value(why="No data (null).")
    if not data:
        return Value(why="Empty data.")
    text = texts.of_bytes(data)
    if text is None:
        return Value(
            hex_dump(data[:MOST_HEX]), is_binary=True, size=len(data), shown=min(len(data), MOST_HEX)
        )
    if len(data) > MOST_TEXT:
        text = data[:MOST_TEXT].decode(errors="ignore")
    return Value(visible(text, KEPT), size=len(data), shown=min(len(data), MOST_TEXT))


def fields(read: Any) -> tuple[tuple[str, str], ...]:
    """What a typed value of `kafka.values` holds, field by field."""
    if not isinstance(read, msgspec.Struct):
        return () if read is None else (("value", _field(read)),)
    return tuple((name, _field(getattr(read, name))) for name in read.__struct_fields__)


def _field(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    return visible(text if len(text) <= _MOST_FIELD else text[:_MOST_FIELD] + "…")
