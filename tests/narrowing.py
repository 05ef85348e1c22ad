"""What a test is sure of, said to the reader and to the type checker alike: else the test fails."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value, which is there."""
    assert value is not None
    return value


def sure(kind: type[T], value: object) -> T:
    """The value, which is of this kind: not refused, not unparsable, not absent."""
    assert isinstance(value, kind), value
    return value
