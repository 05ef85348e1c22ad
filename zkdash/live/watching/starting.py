"""Starts the watchers of a process, a few at a time, while pages are served already.

Each has threads of its own. Hundreds that load at once would keep each other from the interpreter, and hold
what all of them read twice over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

AT_ONCE: Final = 4
# So long one may load or connect before the next is started all the same: it may be large, or far away.
PATIENCE_S: Final = 1.0
_LOOK_S: Final = 0.02
_ENDING: Final = 32  # threads: an end waits for a server's answer, half a second at most


class Startable(Protocol):
    """A watcher."""

    @property
    def is_settled(self) -> bool: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Starting:
    """Of some watchers. `start` once, `stop` once."""

    def __init__(
        self,
        watchers: Sequence[Startable],
        *,
        at_once: int = AT_ONCE,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watchers, self._at_once, self._patience_s, self._clock = watchers, at_once, patience_s, clock
        self._started: list[Startable] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="starting", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Start no more, end those that were started, side by side, and wait for them."""
        self._stopping.set()
        self._thread.join()
        if self._started:
            with ThreadPoolExecutor(min(_ENDING, len(self._started))) as pool:
                list(pool.map(lambda watcher: watcher.stop(), self._started))

    def _run(self) -> None:
        busy: dict[int, float] = {}
        for number, watcher in enumerate(self._watchers):
            while len(busy := self._still(busy)) >= self._at_once:
                if self._stopping.wait(_LOOK_S):
                    return
            if self._stopping.is_set():
                return
            watcher.start()
            self._started.append(watcher)
            busy[number] = self._clock()

    def _still(self, busy: dict[int, float]) -> dict[int, float]:
        """Those that the next one waits for."""
        latest = self._clock() - self._patience_s
        return {
            number: since
            for number, since in busy.items()
            if since > latest and not self._watchers[number].is_settled
        }
