"""Moments of the past that share what did not change between them: a stretch, with a frame a transaction.

A moment within a stretch is there already, one a little later costs the changes between, any other is read
from its checkpoint on. For one thread.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar
from weakref import WeakSet

import msgspec

from zkdash.cluster.checks import Thresholds
from zkdash.history.places.location import Location
from zkdash.history.queries import density, instants, keeping, moment, steps, trees
from zkdash.history.queries.moment import Moment, MomentError
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.steps import TooFarError
from zkdash.history.store import kept
from zkdash.history.store.open_tables import OpenTables
from zkdash.history.store.tables import TIME_LIMIT_S, Tables
from zkdash.live.past import comparing, playback
from zkdash.live.past.reel import AsItWas, Reel
from zkdash.live.snapshot import Earlier, Past
from zkdash.zk.mirror import garbage

# So many stretches are kept, each with a whole tree.
_MOST: Final = 3
T = TypeVar("T")


class Reels:
    """The moments of clusters whose tables lie below `directory_of` their names, asked within limits."""

    def __init__(
        self,
        directory_of: Callable[[str], Location],
        thresholds: Callable[[str], Thresholds],
        memory_mb: int,
        limit_s: float = TIME_LIMIT_S,
    ) -> None:
        self._directory_of, self._thresholds = directory_of, thresholds
        self._tables = OpenTables(moment.TABLES, memory_mb=memory_mb, limit_s=limit_s)
        self._reels: OrderedDict[tuple[Location, int], Reel] = OrderedDict()
        self._seen = WeakSet[Tables]()
        self._compared: OrderedDict[tuple[Location, str, Instant, Instant], Earlier] = OrderedDict()

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
        wanted = _Asked(cluster, address, time_ms, zxid, width, tuple(below))
        return self._anywhere(wanted, lambda directory: self._told(directory, wanted))

    def since(
        self, after: AsItWas, cluster: str, *, time_ms: int | None = None, zxid: int | None = None
    ) -> AsItWas:
        """A moment of the cluster, which knows what it differs in from an earlier one.

        Raises OrderError, MomentError, QueryError.
        """
        wanted = _Asked(cluster, after.snapshot.address, time_ms, zxid)
        earlier = self._anywhere(wanted, lambda directory: self._earlier(directory, wanted, after))
        past = msgspec.structs.replace(after.past, earlier=earlier)
        return AsItWas(msgspec.structs.replace(after.snapshot, past=past), lambda: after.znodes)

    def _anywhere(self, wanted: _Asked, tell: Callable[[Location], T]) -> T:
        """What the tables of a cluster tell, or what a bookmark keeps of those that retention has deleted."""
        directory = self._directory_of(wanted.cluster)
        try:
            return tell(directory)
        except MomentError as error:
            for part in kept.parts(directory):
                if part.holds(wanted.time_ms, wanted.zxid):
                    with contextlib.suppress(MomentError):
                        return tell(part.directory)
            raise error from None

    def _told(self, directory: Location, wanted: _Asked) -> AsItWas:
        """The moment as the tables below a directory tell it."""
        with self._tables.of(directory) as tables:
            instant = keeping.instant(tables, wanted.time_ms, wanted.zxid)
            source, checkpoint = moment.base(tables, instant.zxid)
            around = instants.around(tables, source, instant, wanted.below)
            past = Past(instant, around, density.read(tables, around, instant, wanted.width))
            reel = self._known(tables, directory, source, instant.zxid)
            if reel is None:
                origin = _Origin(wanted.cluster, wanted.address, source, directory)
                garbage.pause()
                try:
                    reel = self._read(tables, origin, checkpoint, instant)
                finally:
                    garbage.resume(freeze=True)
        return reel.at(past)

    def _earlier(self, directory: Location, wanted: _Asked, after: AsItWas) -> Earlier:
        """The moment that a later one is compared with: of a stretch that is there, else by the changes
        between the two, else read by itself. Nobody asks what led to it."""
        with self._tables.of(directory) as tables:
            instant = keeping.instant(tables, wanted.time_ms, wanted.zxid)
            comparing.check_order(instant, after.past.instant)
            source, checkpoint = moment.base(tables, instant.zxid)
            key = (directory, source, instant, after.past.instant)
            self._forget(tables, directory)
            if key not in self._compared:
                reels = (reel for (below, _), reel in self._reels.items() if below == directory)
                reel = next((reel for reel in reels if reel.has(source, instant.zxid)), None)
                self._compared[key] = (
                    _compared(tables, source, checkpoint, instant, after)
                    if reel is None
                    else reel.before(instant, after)
                )
                if len(self._compared) > _MOST:
                    self._compared.popitem(last=False)
            self._compared.move_to_end(key)
            return self._compared[key]

    def _forget(self, tables: Tables, directory: Location) -> None:
        """Have nothing that the tables below a directory tell otherwise by now."""
        if tables in self._seen:
            return
        self._seen.add(tables)
        for compared in [key for key in self._compared if key[0] == directory]:
            del self._compared[compared]
        reels = [(key, reel) for key, reel in self._reels.items() if key[0] == directory]
        for key in [key for key, reel in reels if not reel.is_of(tables)]:
            del self._reels[key]

    def _known(self, tables: Tables, directory: Location, source: str, zxid: int) -> Reel | None:
        """A stretch that reaches the moment, or can be led on to it; the newest that does."""
        self._forget(tables, directory)
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

    def _read(self, tables: Tables, origin: _Origin, checkpoint: int, instant: Instant) -> Reel:
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
        reel = Reel(tables, begun, first)
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
    """What `Reels` is asked for."""

    cluster: str
    address: str
    time_ms: int | None
    zxid: int | None
    width: str = density.USUAL
    below: tuple[str, ...] = ()


def _before(
    tables: Tables, source: str, firsts: set[int], zxid: int
) -> tuple[Moment, Sequence[dict[str, Any]]]:
    """The tree at the earliest of some transactions from which changes lead to `zxid`, and these.

    A tree is read last, and once: of a large cluster nothing costs as much.
    """
    for first in sorted(firsts - {zxid}):
        try:
            if moment.base(tables, first)[0] == source:
                changes = steps.rows(tables, source, first, zxid)
                return moment.read(tables, first), changes
        except (MomentError, TooFarError):
            continue
    return moment.read(tables, zxid), ()


def _compared(tables: Tables, source: str, checkpoint: int, instant: Instant, after: AsItWas) -> Earlier:
    """A moment that is not there, for a later one to be compared with."""
    if after.past.around.source == source:
        upto = after.past.instant.zxid
        with contextlib.suppress(MomentError):
            moment.check_joined(tables, source, instant.zxid, upto)
            later = (upto, after.znodes)
            changed = trees.before(tables, source, checkpoint, instant.zxid, later)
            if changed is not None:
                return comparing.of_changed(instant, changed, after.snapshot.state, after.znodes)
    before = trees.read(tables, source, checkpoint, instant.zxid)
    return comparing.of_trees(instant, comparing.meaning(before, instant.zxid), before, after.znodes)
