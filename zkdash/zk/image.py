"""The image of a tree of znodes: what is held, what is known to be out of date, what is still to be told.

Pure: requests go out as paths, answers come in as znodes, the clock is an argument. Watch events only say
"dirty": the state comes from reads. Answers of one connection come in the order of the requests, so a later
one is never older. A load reads everything beside what is held, and then takes its place.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence

from zkdash.zk import loading, offsets, pending, reading, results
from zkdash.znode import Batch, Unreadable, Znode

Results = Sequence[Znode | int]
Listings = Sequence[list[str] | int]


class Image:
    """See the module. `proved_at` is when a tick was sent whose reply came after all that was published."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.proved_at: float | None = None
        self.loads = 0
        self._roots = roots
        self._held: dict[str, results.Value] = {}
        self._refused: set[str] = set()
        self._cap = reading.MAX_PATHS
        self._pending = pending.Pending()
        self._load: loading.Loading | None = None
        self._takes_older = False
        self._included = 0
        self.forget()

    @property
    def znodes(self) -> Mapping[str, results.Value]:
        return self._held

    @property
    def is_loading(self) -> bool:
        return self._load is not None

    @property
    def progress(self) -> tuple[int, int | None]:
        """How many znodes the load under way has, and about how many there are (None while unknown)."""
        return (len(self._held), None) if self._load is None else (len(self._load.fresh), self._load.expected)

    # --- the connection

    def forget(self) -> None:
        """Drop what was asked and marked: the connection is gone, and everything will be read again."""
        self._load = None
        self._dirty = reading.Dirty()
        self._deferred = offsets.Deferred()
        self._proofs: collections.deque[tuple[int, float]] = collections.deque()
        self._in_flight = self._reread = 0
        self._pending.is_quiet = False

    def ask_for_less(self) -> None:
        """Put fewer paths into a request: an answer was too large to be taken."""
        self._cap = max(1, self._cap // 30)

    def begin_load(self, zxid: int, *, takes_older: bool) -> None:
        """Read everything, which includes at least `zxid`; `takes_older` where history began anew."""
        self._load = loading.Loading(self._roots, self._held)
        self._included, self._takes_older = zxid, takes_older

    # --- what is out of date

    def event(self, path: str, zxid: int, now: float) -> None:
        """A watch event named the path; `zxid` is -1 where the server does not tell it."""
        if offsets.is_offset(path) and self._deferred.add(path, zxid, now):
            return
        self._dirty.mark(path)
        self._mark(self._deferred.same_transaction(zxid))

    def doubt_refused(self) -> None:
        """Have what could not be read tried again: a changed ACL is no event."""
        self._mark(sorted(self._refused)[: reading.MAX_PATHS])

    def advance(self, now: float) -> None:
        """Mark what has waited long enough."""
        self._mark(self._deferred.take(now))

    def _mark(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._dirty.mark(path)

    # --- requests and answers

    def next_read(self, now: float) -> reading.Read | None:
        """Return the next request to send, None while the window is full or nothing is to be read."""
        if self._in_flight >= reading.WINDOW:
            return None
        if self._load is None and (
            now < self._pending.reads_from or self._pending.due(now) is pending.Due.HOLD
        ):
            return None
        read = self._dirty.next(self._held, self._cap)
        if read is None and self._load is not None:
            read = self._load.next(self._cap)
        if read is not None:
            self._in_flight += 1
            self._pending.is_quiet = False
        return read

    def answer(self, read: reading.Read, znodes: Results, listings: Listings, zxid: int, now: float) -> None:
        """Take the answer to a request; it is the state as of `zxid`."""
        self._in_flight -= 1
        if znodes:
            read.level.learn(max(len(z) if isinstance(z, Znode) else 1 for z in znodes))
        if read.is_walk:
            if self._load is not None:
                self._load.take(read, znodes, listings)
        else:
            self._take_dirty(read, znodes, listings, now)
        if not self._in_flight and not self._dirty:
            self._pending.is_quiet = True
            self._included = zxid

    def proof(self, sent: float, zxid: int) -> None:
        """A tick that was sent at `sent` was answered: all events up to `zxid` have arrived."""
        if self._load is None:
            self._proofs.append((self._dirty.marked, sent))
            if not self._in_flight and not self._dirty:
                self._included = max(self._included, zxid)

    def _take_dirty(self, read: reading.Read, znodes: Results, listings: Listings, now: float) -> None:
        target = self._held if self._load is None else self._load.fresh
        for path, result in zip(read.gets, znodes, strict=True):
            value = results.value(path, result)
            if isinstance(value, Znode) and path not in target and value.num_children:
                self._dirty.list(path, value.num_children)
            self._put(target, path, value, now)
        for path, names in zip(read.lists, listings, strict=True):
            base = "" if path == "/" else path
            children = [f"{base}/{name}" for name in names] if isinstance(names, list) else []
            self._mark(child for child in children if child not in target)
        self._reread = read.upto or 0

    def _put(
        self, target: dict[str, results.Value], path: str, value: results.Value | None, now: float
    ) -> None:
        before = target.get(path)
        if before == value or results.is_older(value, before):
            return
        if value is None:
            del target[path]
        else:
            target[path] = value
        if self._load is None:
            self._pending.put(path, value, now)
            if isinstance(value, Unreadable):
                self._refused.add(path)
            elif self._refused:
                self._refused.discard(path)

    # --- batches

    def due(self, now: float) -> Batch | None:
        """Return what is to be published now; it stays due until `published` is called."""
        if self._load is not None:
            return self._whole(self._load, now)
        due = self._pending.due(now)
        if due in {pending.Due.WHOLE, pending.Due.SETTLING}:
            settling = due is pending.Due.SETTLING
            return Batch(changed=self._pending.changed, zxid=self._included, settling=settling)
        return None

    def published(self, batch: Batch, now: float) -> None:
        """Begin the next batch: this one has been told."""
        self._pending.published(now, settling=batch.settling)
        if batch.whole:
            self._load = None
            self.loads += 1

    def prove(self) -> None:
        """Move `proved_at` on to the last tick before which everything has been re-read and published."""
        while self._proofs and not self._pending.changed and self._proofs[0][0] <= self._reread:
            self.proved_at = self._proofs.popleft()[1]

    @property
    def deadline(self) -> float | None:
        """When `advance` or `due` will have something to do by itself."""
        moments = [self._deferred.due]
        if self._load is None:
            moments.append(self._pending.deadline)
            if self._dirty and not self._in_flight and not self._pending.changed:
                moments.append(self._pending.reads_from)
        elif self._load.done_at is not None:
            moments.append(self._load.done_at + pending.PATIENCE_S)
        return min((moment for moment in moments if moment is not None), default=None)

    def _whole(self, load: loading.Loading, now: float) -> Batch | None:
        """The load as one batch once it is whole: at a quiet point, or soon after the walk without one."""
        if not load.is_walked:
            return None
        if load.done_at is None:
            load.done_at = now
        is_quiet = not self._dirty and not self._in_flight
        if not is_quiet and now < load.done_at + pending.PATIENCE_S:
            return None
        self._pending.changed = load.compare(self._pending.changed, takes_older=self._takes_older)
        self._held = load.fresh
        self._refused = {path for path, value in load.fresh.items() if value.__class__ is Unreadable}
        return Batch(changed=self._pending.changed, zxid=self._included, settling=not is_quiet, whole=True)
