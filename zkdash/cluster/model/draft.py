"""A persistent map while it is being changed: copied at the first change, the very same where none came."""

from __future__ import annotations

from typing import Generic, TypeVar

import immutables

K = TypeVar("K")
V = TypeVar("V")


class Draft(Generic[K, V]):
    """One per map and batch."""

    def __init__(self, before: immutables.Map[K, V]) -> None:
        self._before = before
        self._after: immutables.MapMutation[K, V] | None = None

    def get(self, key: K) -> V | None:
        value: V | None = (self._before if self._after is None else self._after).get(key)
        return value

    def put(self, key: K, value: V | None) -> None:
        """Set the value; None takes the key out, if it is there."""
        if self._after is None:
            if value is None and key not in self._before:
                return
            self._after = self._before.mutate()
        if value is None:
            self._after.pop(key, None)
        else:
            self._after[key] = value

    def close(self) -> immutables.Map[K, V]:
        return self._before if self._after is None else self._after.finish()
