"""Bytes of others as text that a page can show: nothing in it hides, moves or acts."""

from __future__ import annotations

from typing import Final

import msgspec

MOST_TEXT: Final = 64 * 1024
MOST_HEX: Final = 16 * 1024
KEPT: Final = "\n\t"
_WIDTH = 16


def visible(text: str, kept: str = "") -> str:
    """Text in which every character shows: others than `kept` are written as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


def of_bytes(data: bytes) -> str | None:
    """The text that bytes are, None where they are none that people write."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if any(ord(c) < 32 and c not in "\n\r\t" for c in text) else text


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
        return visible(msgspec.json.format(data, indent=2).decode(), KEPT)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
