"""The time that the simulated cluster lives by: the real one, or one that moves when it is told to."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Real time."""

    def now(self) -> float:
        """Seconds, monotonic."""
        return time.monotonic()

    def wall_ms(self) -> int:
        """Epoch milliseconds, as Kafka writes them into its znodes."""
        return time.time_ns() // 1_000_000

    def patience(self, seconds: float) -> float | None:
        """How long to wait, in real seconds, for `seconds` of this clock; None is until somebody calls."""
        return seconds

    def on_advance(self, call: Callable[[], None]) -> None:
        """Call back when time jumped; real time never does."""
