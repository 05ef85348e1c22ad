"""Dirty marks that wait: commits of offsets flood /consumers, so their paths are re-read once a second.

What waits is promoted as soon as another event carries the same transaction, so that a multi shows whole.
Before ZooKeeper 3.9 no event tells its transaction: there any other event takes along all that waits.
"""

from __future__ import annotations

from collections.abc import Iterable

DELAY_S = 1.0


def is_offset(path: str) -> bool:
    """Whether the path is below /consumers/<group>/offsets."""
    return path.startswith("/consumers/") and path.startswith("/offsets/", path.find("/", 11))


class Deferred:
    """The paths that wait, and until when."""

    def __init__(self) -> None:
        self.due: float | None = None
        self._paths: dict[str, None] = {}
        self._last: dict[str, None] = {}
        self._last_zxid = -1
        self._immediate_zxid = -1

    @property
    def paths(self) -> Iterable[str]:
        """The paths that wait."""
        return self._paths

    def add(self, path: str, zxid: int, now: float) -> bool:
        """Let the path wait; False where its transaction is being re-read already, so that it may not."""
        if zxid > 0 and zxid == self._immediate_zxid:
            return False
        if zxid != self._last_zxid:
            self._last, self._last_zxid = {}, zxid
        self._paths[path] = self._last[path] = None
        if self.due is None:
            self.due = now + DELAY_S
        return True

    def same_transaction(self, zxid: int) -> Iterable[str]:
        """Note an event that does not wait; return the paths that it takes along."""
        self._immediate_zxid = zxid
        if zxid <= 0:
            taken, self._paths, self._last, self.due = self._paths, {}, {}, None
            return taken
        if zxid != self._last_zxid:
            return ()
        taken, self._last = self._last, {}
        for path in taken:
            self._paths.pop(path, None)
        return taken

    def take(self, now: float) -> Iterable[str]:
        """Return the paths whose time has come."""
        if self.due is None or now < self.due:
            return ()
        paths, self._paths, self._last, self.due = self._paths, {}, {}, None
        return paths
