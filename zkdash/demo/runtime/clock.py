"""The time that a simulated cluster lives by; tests give it a clock that they step."""

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

    def real_wait(self, seconds: float) -> float | None:
        """How long to wait, in real seconds, for `seconds` of this clock; None is until somebody calls."""
        return seconds

    def on_advance(self, call: Callable[[], None]) -> None:
        """Call back when time jumped; real time never does."""
