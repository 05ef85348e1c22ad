"""Kafka's primitive types, as its schemas of records name them (KIP-482 for flexible versions)."""

from __future__ import annotations

from zkdash.formats import bounds


class Reader:
    """Kafka's primitive types; after `version` said so, the compact ones of flexible versions."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0
        self._is_flexible = False
        self._elements = 0  # of all lists so far

    def version(self, newest: int, *, flexible_from: int) -> int:
        """The version that stands first, `newest` at most. Raises ValueError."""
        version = self.i16()
        if not 0 <= version <= newest:
            raise ValueError(f"a value of version {version}")
        self._is_flexible = version >= flexible_from
        return version

    def i8(self) -> int:
        return int.from_bytes(self._take(1), "big", signed=True)

    def i16(self) -> int:
        return int.from_bytes(self._take(2), "big", signed=True)

    def i32(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def i64(self) -> int:
        return int.from_bytes(self._take(8), "big", signed=True)

    def text(self) -> str:
        text = self.text_or_null()
        if text is None:
            raise ValueError("null in place of a text")
        return text

    def text_or_null(self) -> str | None:
        length = self._compact() if self._is_flexible else self.i16()
        return None if length == -1 else self._take(length).decode(errors="replace")

    def data(self) -> bytes | None:
        length = self._compact() if self._is_flexible else self.i32()
        return None if length == -1 else self._take(length)

    def count(self) -> int:
        count = self._compact() if self._is_flexible else self.i32()
        if not -1 <= count <= len(self._data):
            raise ValueError("a nonsensical number of elements")
        self._elements += max(count, 0)
        if self._elements > bounds.ELEMENTS:
            raise ValueError(f"more elements than {bounds.ELEMENTS}")
        return max(count, 0)

    def skip_tags(self) -> None:
        """The tagged fields that end a structure of a flexible version."""
        if self._is_flexible:
            for _ in range(self._unsigned()):
                self._unsigned()
                self._take(self._unsigned())

    def _compact(self) -> int:
        return self._unsigned() - 1

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("a number that does not end")

    def _take(self, size: int) -> bytes:
        taken = self._data[self.position : self.position + size]
        if size < 0 or len(taken) < size:
            raise ValueError(f"{size} bytes wanted, {len(self._data) - self.position} are there")
        self.position += size
        return taken
