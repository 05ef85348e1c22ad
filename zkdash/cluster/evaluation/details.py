"""Many details in few words, and as one cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zkdash.cluster.model.violations import Violation

_MOST_TOLD = 5


def told_of(told: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    rest = len(told) - _MOST_TOLD
    return "; ".join([*told[:_MOST_TOLD], *([f"and {rest} more"] if rest > 0 else [])])


def gathered(marks: Iterable[tuple[str, str]]) -> dict[str, Violation]:
    """One cause for all details under the same key, a check's id or a name: how many, and the first."""
    told: dict[str, list[str]] = {}
    for key, why in marks:
        told.setdefault(key, []).append(why)
    return {key: Violation(len(whys), why=told_of(whys)) for key, whys in told.items()}
