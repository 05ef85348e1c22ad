"""A request of Kafka's protocol, read field by field, and mistrusted. Pure.

Source: the schemas of 3.9 (clients/src/main/resources/common/message), in their form before KIP-482.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

_INT16 = struct.Struct("!h")
_INT32 = struct.Struct("!i")
_INT64 = struct.Struct("!q")

T = TypeVar("T")


class RefusedRequestError(ValueError):
    """The request is one that this broker does not answer; the message says why."""


class Request:
    """The fields of a request in order; RefusedRequestError is raised where one is missing or malformed."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def int16(self) -> int:
        return self._number(_INT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def int64(self) -> int:
        return self._number(_INT64)

    def text(self) -> str:
        found = self.nullable_text()
        if found is None:
            raise RefusedRequestError("a text is null that may not be so")
        return found

    def nullable_text(self) -> str | None:
        length = self.int16()
        if length == -1:
            return None
        if not 0 <= length <= len(self._data) - self._at:
            raise RefusedRequestError(f"a text of {length} bytes is announced, and not there")
        begin, self._at = self._at, self._at + length
        try:
            return self._data[begin : self._at].decode()
        except UnicodeDecodeError as error:
            raise RefusedRequestError(f"a text is not UTF-8: {error.reason}") from error

    def array(self, read: Callable[[], T]) -> list[T]:
        found = self.nullable_array(read)
        if found is None:
            raise RefusedRequestError("an array is null that may not be so")
        return found

    def nullable_array(self, read: Callable[[], T]) -> list[T] | None:
        length = self.int32()
        if length == -1:
            return None
        if not 0 <= length <= len(self._data) - self._at:
            raise RefusedRequestError(f"an array of {length} is announced, and not there")
        return [read() for _ in range(length)]

    def end(self) -> None:
        if self._at != len(self._data):
            raise RefusedRequestError(f"{len(self._data) - self._at} bytes too many")

    def _number(self, form: struct.Struct) -> int:
        try:
            (found,) = form.unpack_from(self._data, self._at)
        except struct.error as error:
            raise RefusedRequestError("it ends early") from error
        self._at += form.size
        return int(found)
