"""How fast a thread renders for sockets: whoever uses much gives way to who waits for an answer.

Loops over rows call `breathe`. On a thread that does a `Work` it rests where that is to give way, and ends
it where nobody waits for it any more; on any other thread it does nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")

# A stretch of work, after which who gives way rests three times as long as it took, if somebody waits.
PIECE_S: Final = 0.002
REST: Final = 3.0

_doing = threading.local()


class AbandonedError(Exception):
    """Nobody waits for it any more."""


class Work:
    """One piece of work, which may be abandoned from any thread; `cpu_s` is what it used in the end."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self._do = do
        self._abandoned = threading.Event()
        self._gives_way: Callable[[], bool] | None = None
        self._since = 0.0
        self.cpu_s = 0.0

    def abandon(self) -> None:
        self._abandoned.set()

    def run(self, gives_way: Callable[[], bool] | None) -> Any:
        """Do it, on this thread; `gives_way` is asked now and then whether to rest. Raises AbandonedError."""
        began = time.thread_time()
        self._gives_way, self._since = gives_way, time.perf_counter()
        _doing.work = self
        try:
            self.breathe()
            return self._do()
        finally:
            _doing.work = None
            self.cpu_s = time.thread_time() - began

    def breathe(self) -> None:
        worked = time.perf_counter() - self._since
        if self._gives_way is not None and worked >= PIECE_S:
            if self._gives_way():
                self._abandoned.wait(worked * REST)
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


class Breathing(Generic[T]):
    """A sequence as templates go through it, with a breath before each item."""

    def __init__(self, items: Collection[T]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return breathing(self._items)
