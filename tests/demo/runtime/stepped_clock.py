"""A clock that moves when it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable

from zkdash.demo.runtime.clock import Clock


class SteppedClock(Clock):
    """Time that stands still until `advance`, so that a test steps through minutes without sleeping."""

    def __init__(self, *, wall_ms: int = 1_795_000_000_000) -> None:
        self._start_ms = wall_ms
        self._now = 0.0
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    def now(self) -> float:
        with self._lock:
            return self._now

    def wall_ms(self) -> int:
        return self._start_ms + int(self.now() * 1000)

    def real_wait(self, seconds: float) -> float | None:
        return None if seconds > 0 else 0.0

    def on_advance(self, call: Callable[[], None]) -> None:
        self._listeners.append(call)

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass; whoever waits on this clock is told."""
        with self._lock:
            self._now += seconds
        for call in self._listeners:
            call()
