"""What a decoder says of bytes that it could not read: values, so that the rest is read all the same."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """Bytes from `offset` of a file (counted from its first byte) that are not what they should be.

    `torn` is True where the file just ends too early: a writer that still writes, or one that was
    stopped. Anything else is damage, or a file of another kind. `reason` is a sentence without any of
    the bytes, which may be secret.
    """

    offset: int
    reason: str
    torn: bool = False
