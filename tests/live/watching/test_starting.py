"""Watchers are started a few at a time, and one that does not come holds nobody up for long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.waiting import wait_for
from zkdash.live.watching.starting import Starting


class _Watcher:
    """One that is settled when it is told to be."""

    def __init__(self) -> None:
        self.is_settled = False
        self.started, self.stopped = threading.Event(), threading.Event()

    def start(self) -> None:
        self.started.set()

    def stop(self) -> None:
        assert self.started.is_set()
        self.stopped.set()


@contextmanager
def _starting(watchers: list[_Watcher], *, at_once: int, patience_s: float = 60.0) -> Iterator[None]:
    starting = Starting(watchers, at_once=at_once, patience_s=patience_s)
    starting.start()
    try:
        yield
    finally:
        starting.stop()


def _count(watchers: list[_Watcher]) -> int:
    return sum(watcher.started.is_set() for watcher in watchers)


def test_so_many_are_started_at_once_and_the_next_when_one_is_settled() -> None:
    watchers = [_Watcher() for _ in range(6)]
    with _starting(watchers, at_once=2):
        wait_for(lambda: _count(watchers) == 2)
        watchers[1].is_settled = True
        wait_for(lambda: _count(watchers) == 3)
        watchers[0].is_settled = watchers[2].is_settled = True
        wait_for(lambda: _count(watchers) == 5)
        assert not watchers[5].started.is_set()


def test_one_that_does_not_come_is_waited_for_no_longer_than_that() -> None:
    watchers = [_Watcher() for _ in range(6)]
    with _starting(watchers, at_once=2, patience_s=0.05):
        wait_for(lambda: _count(watchers) == 6)
    assert all(watcher.stopped.is_set() for watcher in watchers)


def test_whoever_ends_amid_it_starts_no_more() -> None:
    watchers = [_Watcher() for _ in range(6)]
    with _starting(watchers, at_once=2):
        wait_for(lambda: _count(watchers) == 2)
    assert [watcher.stopped.is_set() for watcher in watchers] == [True] * 2 + [False] * 4
    assert _count(watchers) == 2
