"""The turns of a process's recorders, one after the other: one thread for however many clusters there are.

Hundreds that write at once would keep each other, and whoever waits for a page, from the interpreter.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from zkdash.history.recorder.recorder import Recorder

EVERY_S: Final = 1.0
_ENDING: Final = 4  # threads: what is left is written while the process has seconds to live


class _Request(NamedTuple):
    """A recorder that is to write now; `is_done` once it has."""

    recorder: Recorder
    is_done: threading.Event


class Rounds:
    """Gives each recorder its turn every `every_s` seconds, or later. `start` once, `stop` once."""

    def __init__(self, recorders: Sequence[Recorder], *, every_s: float = EVERY_S) -> None:
        self._recorders = recorders
        self._every_s = every_s
        self._stopping = threading.Event()
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="recorders", daemon=True)

    def start(self) -> None:
        if self._recorders:
            self._thread.start()

    def write(self, recorder: Recorder, limit_s: float) -> None:
        """Have one of them write what it has, and wait for that, but no longer than `limit_s`."""
        request = _Request(recorder, threading.Event())
        self._requests.put(request)
        request.is_done.wait(limit_s)

    def stop(self) -> None:
        """Have each write what is left, and wait for it."""
        if self._recorders:
            self._stopping.set()
            self._requests.put(None)
            self._thread.join()
            with ThreadPoolExecutor(_ENDING) as pool:
                list(pool.map(Recorder.end, self._recorders))

    def _run(self) -> None:
        for recorder in self._recorders:
            recorder.enter()
        while not self._stopping.is_set():
            self._answer(time.monotonic() + self._every_s)
            for recorder in self._recorders:
                if self._stopping.is_set():
                    break
                recorder.turn()

    def _answer(self, until: float) -> None:
        """Have those write who are asked to, until a time or the end."""
        while not self._stopping.is_set() and (left := until - time.monotonic()) > 0:
            try:
                request = self._requests.get(timeout=left)
            except queue.Empty:
                return
            if request is not None:
                request.recorder.write()
                request.is_done.set()
