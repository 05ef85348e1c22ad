"""How Java hashes and orders text: java.lang.String over UTF-16 code units, which Kafka's rules lean on."""

from __future__ import annotations

from collections.abc import Iterable

_INT = 1 << 32
_HALF = 1 << 31


def java_hash(text: str, start: int = 0) -> int:
    """Java's String.hashCode, signed 32 bits. `start` is the hash of what comes before `text`."""
    code = start
    if text.isascii():
        for unit in text.encode():
            code = 31 * code + unit
    else:
        raw = text.encode("utf-16-be", "surrogatepass")
        for high, low in zip(raw[::2], raw[1::2], strict=True):
            code = (31 * code + (high << 8 | low)) % _INT
    code %= _INT
    return code - _INT if code >= _HALF else code


def java_sorted(texts: Iterable[str]) -> list[str]:
    """Sorted by Java's String.compareTo, which puts U+10000 and above before U+E000."""
    listed = list(texts)
    if all(map(str.isascii, listed)):
        return sorted(listed)
    return sorted(listed, key=lambda text: text.encode("utf-16-be", "surrogatepass"))
