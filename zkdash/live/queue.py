"""The queue of actions as of about now: one thread asks the database for all clusters, once a second.

Knows no database itself: what reads it is an argument, and may raise `UnavailableError`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from zkdash.actions.reading.entries import KEPT, Detail, Entry, News, UnavailableError

log = logging.getLogger(__name__)

INTERVAL_S = 1.0
# An action's page says every 2 s that it is looked at.
_WANTED_FOR_S = 30.0
# A database that has not answered for so long is said to be away, though it refused nothing.
_LATE_S = 10.0
_LATE = f"Actions cannot be read: zkdash’s database has not answered for over {_LATE_S:g} s."


class Reader(Protocol):
    """What reads the database; every call comes from a thread that may wait for it."""

    def begin(self, clusters: Iterable[str], /) -> News: ...

    def changed(self, since: int, /) -> News: ...

    def detail(self, cluster: str, number: int, known: Detail | None = None, /) -> Detail | None: ...


class Queue(msgspec.Struct, frozen=True):
    """The actions of one cluster, newest first: all in flight, and the newest KEPT of the others.

    `read` is False until the database was read for the first time; `trouble` says why it cannot be read now,
    and then the rest is as it was. `more` tells that older ones are not listed. `looked_at` maps the actions
    whose pages are open to the revision that is known of them (`detail`).
    """

    entries: tuple[Entry, ...] = ()
    read: bool = False
    trouble: str = ""
    more: bool = False
    looked_at: Mapping[int, int] = {}

    @property
    def in_flight(self) -> tuple[Entry, ...]:
        """Those that wait or work."""
        return tuple(entry for entry in self.entries if entry.is_in_flight)


EMPTY = Queue()

_queues: dict[str, Queue] = {}
# What open pages of actions look at: the newest that was read of it, and until when it is wanted.
_details: dict[tuple[str, int], Detail | None] = {}
_wanted: dict[tuple[str, int], float] = {}
_poller: Poller | None = None


def current(cluster: str) -> Queue:
    """The newest queue of a cluster; the same object until something changes."""
    if _poller is not None:
        _poller.judge()
    return _queues.get(cluster, EMPTY)


def detail(cluster: str, number: int) -> Detail | None:
    """All of an action whose page is open, as it was read last; None before that."""
    return _details.get((cluster, number))


def want(cluster: str, number: int) -> None:
    """Somebody looks at an action: it is read again when it changes, for half a minute from now."""
    _wanted[cluster, number] = time.monotonic() + _WANTED_FOR_S


def hold(found: Detail) -> None:
    """Take what a request has just read of an action that somebody is about to look at."""
    key = (found.entry.cluster, found.entry.id)
    before = _details.get(key)
    if before is None or before.entry.revision <= found.entry.revision:
        _details[key] = found
    want(*key)


def poke() -> None:
    """Something has just been changed by this process: read it now. From any thread, returns at once."""
    if _poller is not None:
        _poller.poke()


def clear() -> None:
    """Forget everything (when the engine stops)."""
    _queues.clear()
    _details.clear()
    _wanted.clear()


class Poller:
    """The thread that asks. The database may hang or be away: only what is told of the queue gets old."""

    def __init__(
        self, reader: Reader, clusters: Sequence[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._reader = reader
        self._clusters = tuple(clusters)
        self._clock = clock
        self._turned = clock()
        self._since: int | None = None
        self._failed = False
        self._kept: dict[str, dict[int, Entry]] = {cluster: {} for cluster in clusters}
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="queue", daemon=True)

    def start(self) -> None:
        global _poller  # noqa: PLW0603 - one a process, as the engine
        _poller = self
        self._thread.start()

    def stop(self, limit_s: float = 5.0) -> None:
        """End the thread; one that waits for a database that hangs is left to end with the process."""
        global _poller  # noqa: PLW0603
        _poller = None
        self._stopping = True
        self._wake.set()
        self._thread.join(limit_s)
        clear()

    def poke(self) -> None:
        self._wake.set()

    def turn(self) -> None:
        """Read what changed, once."""
        try:
            self._look()
        except UnavailableError as trouble:
            if not self._failed:
                log.warning("%s", trouble)
            self._failed = True
            self._say(str(trouble))
        else:
            self._failed = False
        self._turned = self._clock()

    def judge(self) -> None:
        """Say that the database is away where it neither answers nor refuses. From any thread."""
        if self._clock() - self._turned > _LATE_S:
            self._say(_LATE)

    def _say(self, trouble: str) -> None:
        for cluster in self._clusters:
            _publish(cluster, msgspec.structs.replace(_queues.get(cluster, EMPTY), trouble=trouble))

    def _run(self) -> None:
        while not self._stopping:
            try:
                self.turn()
            except Exception:
                log.exception("Reading the queue failed")
            self._wake.wait(INTERVAL_S)
            self._wake.clear()

    def _look(self) -> None:
        moved = set(self._clusters) if self._since is None else set()
        news = (
            self._reader.begin(self._clusters) if self._since is None else self._reader.changed(self._since)
        )
        for entry in news.entries:
            if entry.cluster in self._kept:
                self._kept[entry.cluster][entry.id] = entry
                moved.add(entry.cluster)
        looked_at, read = self._look_closer({(one.cluster, one.id): one.revision for one in news.entries})
        self._since = news.revision
        troubled = {cluster for cluster in self._clusters if _queues.get(cluster, EMPTY).trouble}
        for cluster in moved | read | troubled:
            entries, more = self._cut(cluster)
            seen = {number: revision for (of, number), revision in looked_at.items() if of == cluster}
            _publish(cluster, Queue(entries=entries, read=True, more=more, looked_at=seen))

    def _look_closer(
        self, changed: Mapping[tuple[str, int], int]
    ) -> tuple[Mapping[tuple[str, int], int], set[str]]:
        """Read the actions that are looked at where they are not known, or older than what changed."""
        now, read = self._clock(), set()
        for key, until in tuple(_wanted.items()):
            if until < now:
                del _wanted[key]
                _details.pop(key, None)
                continue
            known = _details.get(key)
            if key not in _details or changed.get(key, 0) > (known.entry.revision if known else 0):
                _details[key] = self._reader.detail(*key, known)
                read.add(key[0])
        return {key: one.entry.revision for key, one in tuple(_details.items()) if one}, read

    def _cut(self, cluster: str) -> tuple[tuple[Entry, ...], bool]:
        """The entries of a cluster, newest first, with the oldest of those not in flight forgotten."""
        kept = self._kept[cluster]
        over = sorted((one.id for one in kept.values() if not one.is_in_flight), reverse=True)
        for number in over[KEPT:]:
            del kept[number]
        newest_first = tuple(kept[number] for number in sorted(kept, reverse=True))
        return newest_first, len(over) >= KEPT


def _publish(cluster: str, queue: Queue) -> None:
    """Equal values are no news: the object stays the same."""
    if _queues.get(cluster) != queue:
        _queues[cluster] = queue
