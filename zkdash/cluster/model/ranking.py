"""A sorted sequence that is cheap to change and never changes in place: what a list page shows by default.

Kept in chunks, so that one insertion copies a few hundred entries however long the whole is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

import msgspec

from zkdash.cluster.model.severity import Severity

Entry = tuple[int, str]
CHUNK = 256
_FEW = 64  # so many insertions are cheaper than sorting anew, whatever the size


class HasSeverity(Protocol):
    """What is ranked: worst status first, of one status what has more partitions in trouble."""

    @property
    def severity(self) -> Severity: ...

    @property
    def troubled(self) -> int: ...


def place(thing: HasSeverity) -> int:
    """Where something stands among all, before its name is asked."""
    return (thing.severity.rank << _BITS) - thing.troubled


def rank(place_among_all: int) -> int:
    """The rank of the status of what stands at a place."""
    return -(-place_among_all >> _BITS)


_BITS = 32  # there are fewer partitions than that


class Ranking(msgspec.Struct, frozen=True):
    """(place, name) pairs in order, without duplicates."""

    chunks: tuple[tuple[Entry, ...], ...] = ()

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Ranking:
        """Build from entries in any order."""
        ordered = sorted(entries)
        return cls(tuple(tuple(ordered[i : i + CHUNK]) for i in range(0, len(ordered), CHUNK)))

    def __len__(self) -> int:
        return sum(map(len, self.chunks))

    def __iter__(self) -> Iterator[Entry]:
        for chunk in self.chunks:
            yield from chunk

    def added(self, entry: Entry) -> Ranking:
        """The ranking with `entry`, which must not be in it."""
        if not self.chunks:
            return Ranking(((entry,),))
        at = self._chunk(entry)
        chunk = self.chunks[at]
        where = bisect_left(chunk, entry)
        grown = (*chunk[:where], entry, *chunk[where:])
        half = len(grown) // 2
        parts = (grown,) if len(grown) <= 2 * CHUNK else (grown[:half], grown[half:])
        return Ranking((*self.chunks[:at], *parts, *self.chunks[at + 1 :]))

    def removed(self, entry: Entry) -> Ranking:
        """The ranking without `entry`, which must be in it."""
        at = self._chunk(entry)
        chunk = self.chunks[at]
        where = bisect_left(chunk, entry)
        if where == len(chunk) or chunk[where] != entry:
            raise KeyError(entry)
        left = chunk[:where] + chunk[where + 1 :]
        return Ranking((*self.chunks[:at], *((left,) if left else ()), *self.chunks[at + 1 :]))

    def between(self, start: int, stop: int) -> Iterator[Entry]:
        """The entries from position `start` up to `stop`, read as far as is asked for."""
        for chunk in self.chunks:
            if stop <= 0:
                break
            if start < len(chunk):
                yield from chunk[max(start, 0) : stop]
            start -= len(chunk)
            stop -= len(chunk)

    def runs(self, start: int, stop: int) -> Iterator[Iterator[str]]:
        """The names from position `start` up to `stop`, those of each place apart: each run is in order."""
        while start < stop:
            (place_among_all, _) = next(self.between(start, start + 1))
            end = min(stop, self._position((place_among_all + 1, "")))
            yield (name for _, name in self.between(start, end))
            start = end

    def _position(self, entry: Entry) -> int:
        """How many entries come before `entry`."""
        at = self._chunk(entry)
        return sum(map(len, self.chunks[:at])) + bisect_left(self.chunks[at], entry)

    def _chunk(self, entry: Entry) -> int:
        """The chunk that holds `entry` or would take it."""
        low, high = 0, len(self.chunks) - 1
        while low < high:
            middle = (low + high) // 2
            if self.chunks[middle][-1] < entry:
                low = middle + 1
            else:
                high = middle
        return low


class Placing:
    """What changes its place while a batch is applied. One per batch, thrown away after `close`.

    Each name moves at most once a batch, so that an entry is never both gone and come.
    """

    def __init__(self, before: Ranking) -> None:
        self._before = before
        self._gone: set[Entry] = set()
        self._come: set[Entry] = set()

    def move(self, name: str, before: HasSeverity | None, after: HasSeverity | None) -> None:
        """Something changed, came (before is None) or went (after is None)."""
        was, now = (None if thing is None else place(thing) for thing in (before, after))
        if was == now:
            return
        if was is not None:
            self._gone.add((was, name))
        if now is not None:
            self._come.add((now, name))

    def close(self, every: Mapping[str, HasSeverity]) -> Ranking:
        """The ranking of `every` thing that there is now."""
        if len(self._gone) + len(self._come) > max(_FEW, len(every) // 16):
            return Ranking.of((place(each), name) for name, each in every.items())
        ranking = self._before
        for entry in self._gone:
            ranking = ranking.removed(entry)
        for entry in self._come:
            ranking = ranking.added(entry)
        return ranking
