"""How fast a thread renders for sockets: whoever uses much gives way to who waits for an answer.

Loops over rows call `breathe`. On a thread that does a `Work` it rests where that is to give way, and ends
it where nobody waits for it any more; on any other thread it does nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

T = TypeVar("T")

# A stretch of work, after which who is to give way rests.
PIECE_S: Final = 0.002

_doing = threading.local()


class AbandonedError(Exception):
    """Nobody waits for it any more."""


class Work:
    """One piece of work, which may be abandoned from any thread; `cpu_s` is what it used in the end."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self._do: Callable[[], Any] | None = do
        self._abandoned = threading.Event()
        self._rest: Callable[[], float] = float
        self._since = 0.0
        self.cpu_s = 0.0

    def abandon(self) -> None:
        self._abandoned.set()
        self._do = None  # whoever still names this keeps nothing about what was to be done

    def run(self, rest: Callable[[], float]) -> Any:
        """Do it, on this thread. Raises AbandonedError.

        `rest` is asked every now and then how long to rest now, as a multiple of what was worked since.
        """
        began = time.thread_time()
        self._rest, self._since = rest, time.perf_counter()
        _doing.work = self
        do = self._do
        try:
            self.breathe()
            return do() if do is not None else None
        finally:
            _doing.work = self._do = None
            self.cpu_s = time.thread_time() - began

    def breathe(self) -> None:
        worked = time.perf_counter() - self._since
        if worked >= PIECE_S:
            if times := self._rest():
                self._abandoned.wait(worked * times)
            self._since = time.perf_counter()
        if self._abandoned.is_set():
            raise AbandonedError


def breathe() -> None:
    """Rest a little, where this thread works for sockets and is to give way. Raises AbandonedError."""
    work: Work | None = getattr(_doing, "work", None)
    if work is not None:
        work.breathe()


def breathing(items: Iterable[T]) -> Iterator[T]:
    """The items, with a breath before each."""
    for item in items:
        breathe()
        yield item
