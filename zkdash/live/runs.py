"""The runs of the pipeline as of about now, of clusters whose Pipeline page is open: one query a second each.

Knows no database itself: what reads it is an argument, and may raise `UnavailableError`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import msgspec

from zkdash.actions.reading.entries import UnavailableError

log = logging.getLogger(__name__)

INTERVAL_S = 1.0
# An open page says every 2 s that it is looked at.
_WANTED_FOR_S = 30.0


class Run(msgspec.Struct, frozen=True):
    """One run as `zkdash.pipeline.models.Run` describes it; times in epoch ms, None where not yet."""

    id: int
    job: str
    state: str
    by: str
    queued_ms: int
    started_ms: int | None
    ended_ms: int | None
    rows: int
    problems: int
    zxid_upto: int | None
    progress: int
    sentence: str
    lag_ms: int | None


class Runs(msgspec.Struct, frozen=True):
    """The runs of a cluster, newest first. `read` is False before the first look.

    `trouble` says why they cannot be read now, and then the rest is as it was.
    """

    runs: tuple[Run, ...] = ()
    read: bool = False
    trouble: str = ""


EMPTY = Runs()
Reader = Callable[[str], tuple[Run, ...]]

_known: dict[str, Runs] = {}
_wanted: dict[str, float] = {}
_wake = threading.Event()


def current(cluster: str) -> Runs:
    """What was read last; the same object until something changes."""
    return _known.get(cluster, EMPTY)


def want(cluster: str) -> None:
    """Somebody looks at the runs of a cluster: they are read for half a minute from now."""
    _wanted[cluster] = time.monotonic() + _WANTED_FOR_S


def hold(cluster: str, found: tuple[Run, ...]) -> None:
    """Take what a request has just read, for who is about to look at it."""
    _publish(cluster, Runs(found, read=True))
    want(cluster)


def poke() -> None:
    """Something was just queued by this process: read it now. From any thread, returns at once."""
    _wake.set()


def clear() -> None:
    """Forget everything (when the engine stops)."""
    _known.clear()
    _wanted.clear()


class Poller:
    """The thread that asks. The database may hang or be away: only what is told of the runs gets old."""

    def __init__(self, reader: Reader, clock: Callable[[], float] = time.monotonic) -> None:
        self._reader = reader
        self._clock = clock
        self._over = False
        self._thread = threading.Thread(target=self._run, name="runs", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, limit_s: float = 5.0) -> None:
        """End the thread; one that waits for a database that hangs is left to end with the process."""
        self._over = True
        _wake.set()
        self._thread.join(limit_s)
        clear()

    def turn(self) -> None:
        """Read the runs of every cluster that is looked at, once."""
        now = self._clock()
        for cluster, until in tuple(_wanted.items()):
            if until < now:
                _wanted.pop(cluster, None)
                _known.pop(cluster, None)
                continue
            try:
                _publish(cluster, Runs(self._reader(cluster), read=True))
            except UnavailableError as trouble:
                _publish(cluster, msgspec.structs.replace(current(cluster), trouble=str(trouble)))

    def _run(self) -> None:
        while not self._over:
            try:
                self.turn()
            except Exception:
                log.exception("Reading the runs failed")
            _wake.wait(INTERVAL_S)
            _wake.clear()


def _publish(cluster: str, found: Runs) -> None:
    """Equal values are no news: the object stays the same."""
    if _known.get(cluster) != found:
        _known[cluster] = found
