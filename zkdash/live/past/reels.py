"""Moments of the past that share what did not change between them: a stretch, with a frame a transaction.

A moment within a stretch is there already, one a little later costs the changes between, any other is read
from its checkpoint on. For one thread.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from zkdash.cluster.checks import Thresholds
from zkdash.history.queries import density, instants, keeping, moment, steps
from zkdash.history.queries.instants import Instant
from zkdash.history.queries.moment import Moment, MomentError
from zkdash.history.queries.steps import Step, TooFarError
from zkdash.history.store import kept
from zkdash.history.store.location import Location
from zkdash.history.store.tables import Tables
from zkdash.live.past import playback
from zkdash.live.snapshot import Past, Snapshot
from zkdash.znode import Znode

# So many stretches are kept, each with a whole tree; and so many frames of one.
_MOST: Final = 3
_MOST_FRAMES: Final = 20_000


class AsItWas(msgspec.Struct, frozen=True):
    """A cluster at a moment of the past, and the tree that it was read from, by path."""

    snapshot: Snapshot
    znodes: dict[str, Znode]


class _Reel:
    """A stretch of one cluster, told by one source."""

    def __init__(self, begun: Moment, first: Snapshot) -> None:
        self.source = begun.source
        self._first = begun.znodes
        self._last = dict(begun.znodes)
        self._zxids = [begun.zxid]
        self._frames = [first]
        self._steps: list[Step] = []
        self.reached = begun.zxid

    def go_on(self, rows: Sequence[dict[str, Any]], reached: int) -> None:
        """Add what came after `reached` up to another transaction."""
        for step in steps.walk(self._last, rows):
            self._steps.append(step)
            self._zxids.append(step.zxid)
            self._frames.append(playback.after(self._frames[-1], step))
        self.reached = reached

    def holds(self, source: str, zxid: int) -> bool:
        return source == self.source and self._zxids[0] <= zxid

    @property
    def is_full(self) -> bool:
        return len(self._frames) > _MOST_FRAMES

    def at(self, past: Past) -> AsItWas:
        """A moment that it has reached."""
        place = bisect_right(self._zxids, past.instant.zxid) - 1
        znodes = dict(self._first)
        for step in self._steps[:place]:
            for path, znode in (*step.changed.items(), *step.stats.items()):
                if znode is None:
                    znodes.pop(path, None)
                else:
                    znodes[path] = znode
        return AsItWas(playback.shown(self._frames[place], past), znodes)


class Reels:
    """The moments of clusters whose tables lie below `directory_of` their names."""

    def __init__(
        self, directory_of: Callable[[str], Location], thresholds: Callable[[str], Thresholds], memory_mb: int
    ) -> None:
        self._directory_of, self._thresholds, self._memory_mb = directory_of, thresholds, memory_mb
        self._reels: OrderedDict[tuple[Location, int], _Reel] = OrderedDict()

    def at(
        self,
        cluster: str,
        address: str,
        *,
        time_ms: int | None = None,
        zxid: int | None = None,
        width: str = density.USUAL,
        below: Sequence[str] = (),
    ) -> AsItWas:
        """The cluster at a time (epoch ms), after a transaction, or at the newest moment that is recorded.

        `width` is that of the bar of time around it, one of `density.WIDTHS`. The next changes are those
        `below` some paths, of the whole cluster where none are given. Raises MomentError, QueryError.
        """
        directory = self._directory_of(cluster)
        wanted = _Asked(cluster, address, time_ms, zxid, width, tuple(below))
        try:
            return self._told(directory, wanted)
        except MomentError as error:
            # what retention has deleted may be kept by a bookmark
            for part in kept.parts(directory):
                if part.holds(time_ms, zxid):
                    with contextlib.suppress(MomentError):
                        return self._told(part.directory, wanted)
            raise error from None

    def _told(self, directory: Location, wanted: _Asked) -> AsItWas:
        """The moment as the tables below a directory tell it."""
        with Tables(directory, moment.TABLES, memory_mb=self._memory_mb) as tables:
            instant = keeping.instant(tables, wanted.time_ms, wanted.zxid)
            source, checkpoint = moment.base(tables, instant.zxid)
            past = Past(
                instant,
                instants.around(tables, source, instant, wanted.below),
                density.read(tables, source, instant, wanted.width),
            )
            reel = self._known(tables, directory, source, instant.zxid)
            if reel is None:
                origin = _Origin(wanted.cluster, wanted.address, source, directory)
                reel = self._read(tables, origin, checkpoint, instant)
        return reel.at(past)

    def _known(self, tables: Tables, directory: Location, source: str, zxid: int) -> _Reel | None:
        """A stretch that reaches the moment, or can be led on to it; the newest that does."""
        keys = [key for key, reel in self._reels.items() if key[0] == directory and reel.holds(source, zxid)]
        for key in sorted(keys, reverse=True):
            reel = self._reels[key]
            if reel.reached < zxid:
                if reel.is_full:
                    continue
                try:
                    reel.go_on(steps.rows(tables, source, reel.reached, zxid), zxid)
                except (MomentError, TooFarError):
                    continue
            self._reels.move_to_end(key)
            return reel
        return None

    def _read(self, tables: Tables, origin: _Origin, checkpoint: int, instant: Instant) -> _Reel:
        """A new stretch that leads to the moment: as long as what is recorded before it allows."""
        lead = instants.lead(tables, origin.source, instant)
        firsts = {lead, moment.settled(tables, checkpoint)} - {0}
        begun, changes = _before(tables, origin.source, firsts, instant.zxid)
        begins = min(instants.at_zxid(tables, begun.zxid).time_ms, instant.time_ms)
        first = playback.begin(
            origin.cluster,
            origin.address,
            begun.znodes,
            Instant(begun.zxid, begins),
            self._thresholds(origin.cluster),
        )
        reel = _Reel(begun, first)
        reel.go_on(changes, instant.zxid)
        self._reels[origin.directory, begun.zxid] = reel
        while len(self._reels) > _MOST:
            self._reels.popitem(last=False)
        return reel


class _Origin(msgspec.Struct, frozen=True):
    """Of which cluster a stretch is, where its ZooKeeper is, whose changes tell it, and where they lie."""

    cluster: str
    address: str
    source: str
    directory: Location


class _Asked(msgspec.Struct, frozen=True):
    """What `Reels.at` is asked for."""

    cluster: str
    address: str
    time_ms: int | None
    zxid: int | None
    width: str
    below: tuple[str, ...]


def _before(
    tables: Tables, source: str, firsts: set[int], zxid: int
) -> tuple[Moment, Sequence[dict[str, Any]]]:
    """The tree at the earliest of some transactions from which changes lead to `zxid`, and these."""
    for first in sorted(firsts - {zxid}):
        try:
            begun = moment.read(tables, first)
            if source == begun.source:
                return begun, steps.rows(tables, source, first, zxid)
        except (MomentError, TooFarError):
            continue
    return moment.read(tables, zxid), ()
