"""What a watcher handed over and the recorder has not taken yet: never more than a tree of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

import msgspec

from zkdash.znode import Batch, Unreadable, Znode

MOST_WAITING: Final = 500_000  # paths


class Changed(msgspec.Struct):
    """A batch, when it came and what was proved by then (epoch ms); several where the recorder was slow."""

    batch: Batch
    ms: int
    proved_ms: int
    is_merged: bool = False


class Inbox:
    """What waits for the recorder, never more than a tree of it."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self.proved_ms = 0
        self._wall = wall
        self._lock = threading.Lock()
        self._waiting: list[Changed] = []
        self._paths = 0

    def put(self, batch: Batch) -> None:
        ms = int(self._wall() * 1000)
        with self._lock:
            self._paths += len(batch.changed)
            self._waiting.append(Changed(batch, ms, self.proved_ms))
            if self._paths > MOST_WAITING and len(self._waiting) > 1:
                self._merge()

    def take(self) -> list[Changed]:
        with self._lock:
            waiting, self._waiting, self._paths = self._waiting, [], 0
        return waiting

    def _merge(self) -> None:
        """Keep the last state of each path."""
        changed: dict[str, Znode | Unreadable | None] = {}
        for each in self._waiting:
            changed.update(each.batch.changed)
        first, last = self._waiting[0], self._waiting[-1]
        whole = Batch(changed, last.batch.zxid, settling=last.batch.settling, whole=True)
        self._waiting, self._paths = [Changed(whole, last.ms, first.proved_ms, is_merged=True)], 0
