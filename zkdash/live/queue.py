"""The queue of actions as of about now: one thread asks the database for all clusters, once a second.

Knows no database itself: what reads it is an argument, and may raise `UnavailableError`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from zkdash.actions.reading.entries import KEPT, Detail, Entry, News, UnavailableError
from zkdash.live.polled import Clock, Polled, Wanted

# A database that has not answered for so long is said to be away, though it refused nothing.
_LATE_S = 10.0
_LATE = f"Actions cannot be read: zkdash’s database has not answered for over {_LATE_S:g} s."


class Reader(Protocol):
    """What reads the database; every call comes from a thread that may wait for it."""

    def begin(self, clusters: Iterable[str], /) -> News: ...

    def changed(self, since: int, /) -> News: ...

    def detail(self, cluster: str, number: int, earlier: Detail | None = None, /) -> Detail | None: ...


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


class ActionQueue(Polled[Queue]):
    """The actions of all clusters; without a reader, none."""

    def __init__(
        self, reader: Reader | None = None, clusters: Sequence[str] = (), clock: Clock = time.monotonic
    ) -> None:
        super().__init__("Reading the queue", EMPTY, idle=reader is None, clock=clock)
        self._reader = reader
        self._clusters = tuple(clusters)
        self._turned = clock()
        self._since: int | None = None
        self._kept: dict[str, dict[int, Entry]] = {cluster: {} for cluster in clusters}
        # What open pages of actions look at: the newest that was read of it.
        self._details: dict[tuple[str, int], Detail | None] = {}
        self._wanted = Wanted[tuple[str, int]](clock)

    def current(self, cluster: str) -> Queue:
        if self._thread.is_alive() and not self._stopping:
            self.judge()
        return super().current(cluster)

    def detail(self, cluster: str, number: int) -> Detail | None:
        """All of an action whose page is open, as it was read last; None before that."""
        return self._details.get((cluster, number))

    def want(self, cluster: str, number: int) -> None:
        """Somebody looks at an action: it is read again when it changes, for half a minute from now."""
        if self._reader is not None:
            self._wanted.want((cluster, number))

    def hold(self, detail: Detail) -> None:
        """Take what a request has just read of an action that somebody is about to look at."""
        if self._reader is None:
            return
        key = (detail.entry.cluster, detail.entry.id)
        before = self._details.get(key)
        if before is None or before.entry.revision <= detail.entry.revision:
            self._details[key] = detail
        self.want(*key)

    def turn(self) -> None:
        """Read what changed, once."""
        if self._reader is None:
            return
        try:
            self._look(self._reader)
        except UnavailableError as trouble:
            self._fail(self._clusters, str(trouble))
        else:
            self._failed = False
        self._turned = self._clock()

    def judge(self) -> None:
        """Say that the database is away where it neither answers nor refuses. From any thread."""
        if self._clock() - self._turned > _LATE_S:
            self._say(self._clusters, _LATE)

    def _forget(self) -> None:
        super()._forget()
        self._details.clear()
        self._wanted.clear()

    def _look(self, reader: Reader) -> None:
        moved = set(self._clusters) if self._since is None else set()
        news = reader.begin(self._clusters) if self._since is None else reader.changed(self._since)
        for entry in news.entries:
            if entry.cluster in self._kept:
                self._kept[entry.cluster][entry.id] = entry
                moved.add(entry.cluster)
        changed = {(entry.cluster, entry.id): entry.revision for entry in news.entries}
        looked_at, read = self._look_closer(reader, changed)
        self._since = news.revision
        troubled = {cluster for cluster in self._clusters if self._last(cluster).trouble}
        for cluster in moved | read | troubled:
            entries, more = self._cut(cluster)
            revisions = {number: revision for (of, number), revision in looked_at.items() if of == cluster}
            self._publish(cluster, Queue(entries=entries, read=True, more=more, looked_at=revisions))

    def _look_closer(
        self, reader: Reader, changed: Mapping[tuple[str, int], int]
    ) -> tuple[Mapping[tuple[str, int], int], set[str]]:
        """Read the actions that are looked at where they are not known, or older than what changed."""
        read, details = set(), self._details
        for key in self._wanted.standing(lambda gone: details.pop(gone, None)):
            earlier = details.get(key)
            if key not in details or changed.get(key, 0) > (earlier.entry.revision if earlier else 0):
                details[key] = reader.detail(*key, earlier)
                read.add(key[0])
        return {key: detail.entry.revision for key, detail in tuple(details.items()) if detail}, read

    def _cut(self, cluster: str) -> tuple[tuple[Entry, ...], bool]:
        """The entries of a cluster, newest first, with the oldest of those not in flight forgotten."""
        kept = self._kept[cluster]
        over = sorted((entry.id for entry in kept.values() if not entry.is_in_flight), reverse=True)
        for number in over[KEPT:]:
            del kept[number]
        newest_first = tuple(kept[number] for number in sorted(kept, reverse=True))
        return newest_first, len(over) >= KEPT
