"""The turns of a process's pollers: a thread that looks who is due, and a few that ask.

What is asked of an ensemble comes twice a minute. A thread a cluster would wait nearly all of the time.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final, Protocol

_STEP_S: Final = 0.5
_STOP_LIMIT_S: Final = 5.0
# A server that says nothing holds one for 10 s.
_ASKING: Final = 32


class Turn(Protocol):
    """Who has something to ask now and then."""

    @property
    def is_due(self) -> bool: ...

    def survive(self) -> None:
        """Ask what has become due; raises nothing."""


class Turns:
    """See the module. From any thread; threads run while anybody has entered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Turn, Future[None] | None] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._empty = threading.Event()

    def enter(self, turn: Turn) -> None:
        """Give it its turns from now on."""
        with self._lock:
            self._running[turn] = None
            if self._pool is None:
                self._pool, self._empty = ThreadPoolExecutor(_ASKING, "ensemble"), threading.Event()
                threading.Thread(
                    target=self._run, args=(self._pool, self._empty), name="ensembles", daemon=True
                ).start()

    def leave(self, turn: Turn) -> None:
        """Give it no more, and wait for the end of the one that runs, some seconds at most."""
        with self._lock:
            last = self._running.pop(turn, None)
            if not self._running and self._pool is not None:
                self._empty.set()
                self._pool.shutdown(wait=False)
                self._pool = None
        if last is not None and not last.cancel():
            wait((last,), _STOP_LIMIT_S)

    def _run(self, pool: ThreadPoolExecutor, empty: threading.Event) -> None:
        while not empty.wait(_STEP_S):
            with self._lock:
                if empty.is_set():
                    return
                for turn, last in self._running.items():
                    if turn.is_due and (last is None or last.done()):
                        self._running[turn] = pool.submit(turn.survive)


OF_PROCESS: Final = Turns()
