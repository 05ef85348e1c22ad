"""Jute, how ZooKeeper's files are serialised: big-endian; texts and buffers with an int length, −1 for null.

Source: org.apache.jute.BinaryInputArchive.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from zkdash.formats import bounds

_INT = struct.Struct("!i")
_LONG = struct.Struct("!q")


class MalformedError(ValueError):
    """Bytes that are no such record; the message says what was expected where."""


class Acl(NamedTuple):
    """One entry of an access list: permission bits (read 1, write 2, create 4, delete 8, admin 16), who."""

    perms: int
    scheme: str
    id: str

    def __str__(self) -> str:
        return f"{self.scheme}:{self.id}:{self.perms}"


class Reader:
    """Reads values from `position` on, never past `end`. Raises MalformedError."""

    def __init__(self, data: bytes, position: int = 0, end: int | None = None) -> None:
        self._data = data
        self.position = position
        self.end = len(data) if end is None else end

    @property
    def left(self) -> int:
        return self.end - self.position

    def i32(self) -> int:
        at = self._take(4)
        value: int = _INT.unpack_from(self._data, at)[0]
        return value

    def i64(self) -> int:
        at = self._take(8)
        value: int = _LONG.unpack_from(self._data, at)[0]
        return value

    def flag(self) -> bool:
        return self._data[self._take(1)] != 0

    def buffer(self) -> bytes | None:
        """Bytes, None for null."""
        length = self.i32()
        if length < 0:
            if length != -1:
                raise MalformedError(f"a length of {length} at byte {self.position - 4}")
            return None
        at = self._take(length)
        return bytes(self._data[at : at + length])

    def string(self) -> str:
        """Text; what is no UTF-8 in it is replaced, as Java does. Null is no text."""
        data = self.buffer()
        if data is None:
            raise MalformedError(f"null in place of a text at byte {self.position - 4}")
        return data.decode(errors="replace")

    def count(self) -> int:
        """The number of a vector's elements; null is none. Each takes four bytes at least."""
        count = self.i32()
        if count < -1 or count * 4 > self.left:
            raise MalformedError(f"a count of {count} at byte {self.position - 4}")
        if count > bounds.ELEMENTS:
            raise MalformedError(
                f"a list of {count}, where {bounds.ELEMENTS} are read, at byte {self.position - 4}"
            )
        return max(count, 0)

    def acl(self) -> tuple[Acl, ...]:
        """An access list. The hash in a `digest` entry stays behind: it can be searched for the password."""
        return tuple(self._acl_entry() for _ in range(self.count()))

    def _acl_entry(self) -> Acl:
        perms, scheme, name = self.i32(), self.string(), self.string()
        if scheme == "digest":
            name = name.partition(":")[0] + ":<hidden>"
        return Acl(perms, scheme, name)

    def _take(self, size: int) -> int:
        at = self.position
        if size > self.end - at:
            raise MalformedError(f"{size} bytes wanted at byte {at}, {self.end - at} are there")
        self.position = at + size
        return at
