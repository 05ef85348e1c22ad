"""What a decoder must hide of a znode's data: given to it by whoever knows which paths are secret."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Redaction(NamedTuple):
    """`redact(path, data)` returns the data that may be handed on, for a path as the ensemble holds it.

    It is asked only for paths that hold one of `marks`, so that millions of others cost next to nothing:
    it must leave those as they are.
    """

    marks: tuple[str, ...]
    redact: Callable[[str, bytes | None], bytes | None]

    def apply(self, path: str, data: bytes | None) -> bytes | None:
        """The data that may be handed on."""
        return self.redact(path, data) if any(mark in path for mark in self.marks) else data
