"""The process that carries out runs, as the worker starts, asks and ends it.

It keeps one Spark session for all of them. It is told the numbers of runs by its standard input, a line each,
and says by its standard output when it is ready and when a run ended. It ends with the worker, however that
ends, and when it was idle for `IDLE_S`; its JVM ends with it.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

STOP_LIMIT_S: Final = 5.0
IDLE_S: Final = 300.0
READY: Final = "ready"
_LOOK_S: Final = 0.1


class Performer:
    """`command` starts it. Nothing runs before the first run is asked for."""

    def __init__(self, command: Sequence[str], *, idle_s: float = IDLE_S) -> None:
        self._command = command
        self._idle_s = idle_s
        self._running: _Running | None = None
        self._used = 0.0

    @property
    def pid(self) -> int | None:
        """Of the process, None while there is none."""
        return None if self._running is None else self._running.process.pid

    def carry_out(self, number: int, over: threading.Event, alive: Callable[[], object]) -> int | None:
        """Have it carry out a run; its exit code where it ended before the run did, or as `over` was set.

        `alive` is called again and again until it can tell by itself that it is at work.
        """
        running = self._begun()
        if running.is_ready(over, alive) and running.has_done(number, over):
            self._used = time.monotonic()
            return None
        return self.stop()

    def rest(self) -> None:
        """End it where it was idle for long."""
        if self._running is not None and time.monotonic() - self._used >= self._idle_s:
            self.stop()

    def stop(self) -> int:
        """End it, in limited time; its exit code, 0 where there is none."""
        running, self._running = self._running, None
        return 0 if running is None else running.end()

    def _begun(self) -> _Running:
        if self._running is not None and self._running.process.poll() is not None:
            self.stop()
        if self._running is None:
            self._running = _Running(self._command)
        return self._running


class _Running:
    """Such a process, and what it said."""

    def __init__(self, command: Sequence[str]) -> None:
        # Its standard input ends with this process, however that ends: then it ends too.
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._line = self._part = ""
        self._is_ready = False

    def is_ready(self, over: threading.Event, alive: Callable[[], object]) -> bool:
        """Wait until it has begun; False where it ended or `over` was set before."""
        self._is_ready = self._is_ready or self._waited(READY, over, alive)
        return self._is_ready

    def has_done(self, number: int, over: threading.Event) -> bool:
        """Have it carry out a run, and wait for its end; False as in `is_ready`."""
        assert self.process.stdin is not None  # noqa: S101 - for the type
        with contextlib.suppress(BrokenPipeError):  # it ended: it says nothing more
            self.process.stdin.write(f"{number}\n".encode())
        return self._waited(str(number), over, lambda: None)

    def _waited(self, word: str, over: threading.Event, alive: Callable[[], object]) -> bool:
        assert self.process.stdout is not None  # noqa: S101 - for the type
        while self._line != word:
            alive()
            if over.is_set():
                return False
            if select.select([self.process.stdout], [], [], _LOOK_S)[0]:
                data = os.read(self.process.stdout.fileno(), 4096)
                if not data:
                    return False
                *lines, self._part = (self._part + data.decode()).split("\n")
                self._line = lines[-1] if lines else self._line
        return True

    def end(self) -> int:
        self.process.terminate()
        try:
            self.process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return self.process.wait()
