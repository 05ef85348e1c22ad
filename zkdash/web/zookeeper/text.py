"""What a znode holds, as text that a page can show: nothing in it hides, moves or acts."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from zkdash.znode import Unreadable, Znode

# So much of a value is shown; the rest is had by a link.
MOST_TEXT: Final = 64 * 1024
MOST_HEX: Final = 16 * 1024
_MOST_FIELD = 400
_WIDTH = 16
_KEPT = "\n\t"


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


def visible(text: str, kept: str = "") -> str:
    """Text in which every character shows: others than `kept` are written as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


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
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if any(ord(c) < 32 and c not in "\n\r\t" for c in text):
        return Value(
            hex_dump(data[:MOST_HEX]), is_binary=True, size=len(data), shown=min(len(data), MOST_HEX)
        )
    if len(data) > MOST_TEXT:
        text = data[:MOST_TEXT].decode(errors="ignore")
    return Value(visible(text, _KEPT), size=len(data), shown=min(len(data), MOST_TEXT))


def hex_dump(data: bytes) -> str:
    """Sixteen bytes a line: where, in hexadecimal, and as ASCII."""
    lines = []
    for at in range(0, len(data), _WIDTH):
        piece = data[at : at + _WIDTH]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in piece)
        lines.append(f"{at:08x}  {piece.hex(' '):<{3 * _WIDTH - 1}}  {shown}")
    return "\n".join(lines)


def pretty(data: bytes | None) -> str:
    """A JSON object or list with an indent, its numbers and order as they are; "" for what is none."""
    if not data or len(data) > MOST_TEXT or data.lstrip()[:1] not in (b"{", b"["):
        return ""
    try:
        return visible(msgspec.json.format(data, indent=2).decode(), _KEPT)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def fields(read: Any) -> tuple[tuple[str, str], ...]:
    """What a typed value of `kafka.values` holds, field by field."""
    if not isinstance(read, msgspec.Struct):
        return () if read is None else (("value", _field(read)),)
    return tuple((name, _field(getattr(read, name))) for name in read.__struct_fields__)


def _field(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    return visible(text if len(text) <= _MOST_FIELD else text[:_MOST_FIELD] + "…")
