"""The turns of a process's recorders, one after the other: one thread for however many clusters there are.

Hundreds that write at once would keep each other, and whoever waits for a page, from the interpreter.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from zkdash.history.recorder.recorder import Recorder

EVERY_S: Final = 1.0
_ENDING: Final = 4  # threads: what is left is written while the process has seconds to live


class Rounds:
    """Gives each recorder its turn every `every_s` seconds, or later. `start` once, `stop` once."""

    def __init__(self, recorders: Sequence[Recorder], *, every_s: float = EVERY_S) -> None:
        self._recorders = recorders
        self._every_s = every_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorders", daemon=True)

    def start(self) -> None:
        if self._recorders:
            self._thread.start()

    def stop(self) -> None:
        """Have each write what is left, and wait for it."""
        if self._recorders:
            self._stopping.set()
            self._thread.join()
            with ThreadPoolExecutor(_ENDING) as pool:
                list(pool.map(Recorder.end, self._recorders))

    def _run(self) -> None:
        for recorder in self._recorders:
            recorder.enter()
        while not self._stopping.wait(self._every_s):
            for recorder in self._recorders:
                recorder.turn()
                if self._stopping.is_set():
                    break
