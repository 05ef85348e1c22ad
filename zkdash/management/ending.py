"""How a command ends that runs until it is told to: by SIGTERM or Ctrl-C, soon, silently, with exit code 0.

`prepare` comes before anything slow is imported. Until the command says how it leaves (`when_told`), there is
nothing to leave and the process ends at once; from then on it has LIMIT_S, whatever still runs, and at its
proper end (`finish`) it waits for no thread that was left behind. Nothing else may be imported here.
"""

from __future__ import annotations

import _thread
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

LIMIT_S: Final = 9.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_ENDLESS: Final = frozenset({"serve", "demo", "execute", "record"})
_ENDLESS_OF_PIPELINE: Final = frozenset({"work", "stream"})

_MARGIN_S: Final = 1.0
_LOOK_S: Final = 0.5
_told_at: float | None = None


def prepare(arguments: Sequence[str]) -> None:
    """Where it is a command that runs until it is told to end, take the signals from now on."""
    if runs_until_told(arguments):
        _take(lambda: os._exit(0))


def runs_until_told(arguments: Sequence[str]) -> bool:
    """Whether a command, with its arguments, ends only by a signal."""
    name, verb, *_ = (*arguments, "", "")
    return name in _ENDLESS or (name == "pipeline" and verb in _ENDLESS_OF_PIPELINE)


def when_told(leave: Callable[[], object]) -> None:
    """From now on a signal has `leave` called, once, on a thread of its own; it may take any lock."""

    def end() -> None:
        if _told_at is None:
            begin()
            _thread.start_new_thread(leave, ())

    _take(end)


def begin(*, code: int = 0) -> None:
    """The process has LIMIT_S from now on, and ends with this exit code if it needs more.

    Safe in a handler of signals, which may run while the interpreter's main thread holds any lock.
    """
    global _told_at  # noqa: PLW0603 - a process ends once
    _told_at = time.monotonic()
    _thread.start_new_thread(_last_resort, (code,))


def wait(ended: threading.Event) -> None:
    """Until it is set, on the main thread, which alone runs handlers of signals.

    One that comes between the interpreter's last look for signals and the wait itself, or to another thread,
    does not end a wait without a limit: its handler would never run. So it looks again.
    """
    while not ended.wait(_LOOK_S):
        pass


def left() -> float:
    """How many seconds something may take that is waited for at the end."""
    began = time.monotonic() if _told_at is None else _told_at
    return max(0.0, began + LIMIT_S - _MARGIN_S - time.monotonic())


def hush(logger: str, error: type[BaseException]) -> None:
    """From now on this error is a consequence of the end, and no line of that logger's tells of it."""
    logging.getLogger(logger).addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], error))
    )


def finish() -> None:
    """The end of a command that was told to end: where threads were left behind, they are not waited for.

    What Python tidies up at its end they would see vanish, and extension modules complain of what they hold.
    """
    if threading.active_count() > 1:
        _end(0)


def fail(sentence: str) -> NoReturn:
    """End at once, from any thread, with a sentence and exit code 1."""
    sys.stderr.write(f"{sentence}\n")
    _end(1)


def _take(handle: Callable[[], None]) -> None:
    for number in _SIGNALS:
        signal.signal(number, lambda *_: handle())


def _last_resort(code: int) -> None:
    """The thread holds nothing but this, so that it is in nobody's way where the process ends by itself."""
    time.sleep(LIMIT_S)
    _end(code)


def _end(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # whoever read it is gone
            stream.flush()
    os._exit(code)
