"""Many details as one text, and as one violation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from zkdash.cluster.model.violations import Violation

T = TypeVar("T")

_MOST_TOLD = 5


def told_of(details: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    return told_as(details, str)


def told_as(details: Sequence[T], words: Callable[[T], str]) -> str:
    """As `told_of`, of what has yet to be put into words."""
    rest = len(details) - _MOST_TOLD
    return "; ".join([*map(words, details[:_MOST_TOLD]), *([f"and {rest} more"] if rest > 0 else [])])


def violation_of(details: Iterable[str]) -> Violation | None:
    """One cause for all details, None for no detail: how many, and the first of them in their order."""
    whys = sorted(details)  # the same however it came about
    return Violation(len(whys), why=told_of(whys)) if whys else None


def gathered(marks: Iterable[tuple[str, str]]) -> dict[str, Violation]:
    """One cause for all details under the same key, a check's id or a name: how many, and the first."""
    by_key: dict[str, list[str]] = {}
    for key, why in marks:
        by_key.setdefault(key, []).append(why)
    return {key: Violation(len(whys), why=told_of(whys)) for key, whys in by_key.items()}
