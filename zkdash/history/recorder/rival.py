"""A recorder of another machine that writes the same tables: it is let go on until it falls silent."""

from __future__ import annotations

from collections.abc import Callable, Mapping


class Rival:
    """Looked at every `every_s` seconds by where it has left the tables. `wall` tells epoch seconds."""

    def __init__(self, wall: Callable[[], float], *, every_s: float, silent_s: float) -> None:
        self._wall, self._every_s, self._silent_s = wall, every_s, silent_s
        self._positions: Mapping[str, int | None] | None = None
        self._moved_at = self._looked_at = wall()

    def is_silent(self, positions: Callable[[], Mapping[str, int | None]]) -> bool:
        """Whether it wrote nothing for `silent_s` seconds. Raises as `positions` does."""
        now = self._wall()
        if now - self._looked_at < self._every_s:
            return False
        self._looked_at = now
        if (current := positions()) != self._positions:
            self._positions, self._moved_at = current, now
        return now - self._moved_at >= self._silent_s
