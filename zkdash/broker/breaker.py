"""A circuit breaker: whoever fails again and again is left alone for a while, longer each time."""

from __future__ import annotations

import random
from collections.abc import Callable

AFTER = 2
FIRST_S = 5.0
MOST_S = 60.0


class Breaker:
    """Closed until `AFTER` failures in a row, then open; half-open once the pause is over: one probe.

    A probe that fails opens it again, for twice as long up to `MOST_S`, less up to a quarter by chance so
    that brokers which failed together are not asked together. Times are monotonic seconds.
    """

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._failures = 0
        self._pause_s = 0.0
        self._until = float("-inf")
        self.reason: str | None = None

    def is_open(self, now: float) -> bool:
        """Whether nothing may be asked now."""
        return now < self._until

    def failed(self, reason: str, now: float) -> None:
        self.reason = reason
        self._failures += 1
        if self._failures >= AFTER:
            self._pause_s = min(max(FIRST_S, 2 * self._pause_s), MOST_S)
            self._until = now + self._pause_s * (1 - self._chance() / 4)

    def succeeded(self) -> None:
        self.reason = None
        self._failures = 0
        self._pause_s = 0.0
        self._until = float("-inf")
