"""The mirrored znodes: those held, those known to be out of date, and those still to be published.

Pure: requests go out as paths, answers come in as znodes, the clock is an argument. Watch events only say
"dirty": the state comes from reads. Answers of one connection come in the order of the requests, so a later
one is never older. A load reads everything beside what is held, and then takes its place.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence

from zkdash.zk.mirror import loading, offsets, pending, reading, results, resync, stale_paths, watching
from zkdash.zk.wire import jute
from zkdash.znode import Batch, Unreadable, Znode

Results = Sequence[Znode | int]
Listings = Sequence[list[str] | int]
Request = reading.Read | stale_paths.Watch


class ZnodeStore:
    """See the module. `proved_at` is when a tick was sent whose reply came after all that was published.

    `loads` counts the loads that were published.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        self.proved_at: float | None = None
        self.loads = 0
        self.is_one_shot = False
        self._roots = roots
        self._held: dict[str, results.Value] = {}
        self._refused: set[str] = set()
        self._cap = reading.MAX_PATHS
        self._pending = pending.Pending()
        self._load: loading.Loading | resync.Resync | None = None
        self._takes_older = False
        self._included = self._exact = self._seen = 0
        self._standing = 0
        self._suspects: set[str] = set()
        self._asked: collections.deque[Request] = collections.deque()
        self._dirty, self._deferred = stale_paths.StalePaths(), offsets.Deferred()
        self.forget()

    @property
    def znodes(self) -> Mapping[str, results.Value]:
        return self._held

    @property
    def watches(self) -> int:
        """How many watches the server keeps for what is held: one a root where they are recursive."""
        if not self.is_one_shot:
            return len(self._roots)
        return self._standing + sum(root not in self._held for root in self._roots)

    @property
    def is_loading(self) -> bool:
        return self._load is not None

    @property
    def progress(self) -> tuple[int, int | None]:
        """How many znodes the load under way has, and about how many there are (None while unknown)."""
        return (len(self._held), None) if self._load is None else (len(self._load.fresh), self._load.expected)

    # --- the connection

    def forget(self) -> None:
        """Drop what was asked and marked: the connection is gone, and all will be looked at again."""
        unanswered = [path for read in self._asked if isinstance(read, reading.Read) for path in read.gets]
        self._suspects.update(self._dirty.gets, self._deferred.paths, () if self.is_loading else unanswered)
        self._load = None
        self._dirty, self._deferred = stale_paths.StalePaths(), offsets.Deferred()
        self._proofs: collections.deque[tuple[int, float]] = collections.deque()
        self._asked.clear()
        self._pending.is_quiet = False

    def ask_for_less(self) -> None:
        """Put fewer paths into a request: an answer was too large to be taken."""
        self._cap = max(1, self._cap // 30)

    def begin_load(
        self, zxid: int, *, takes_older: bool, is_one_shot: bool = False, resumes: bool = False
    ) -> None:
        """Read everything, which includes at least `zxid`; `takes_older` where history began anew.

        `resumes` where the session is that of the last load: one-shot watches then tell what changed.
        """
        self.is_one_shot = is_one_shot
        self._included = self._seen = zxid
        self._takes_older = takes_older
        if is_one_shot and resumes and self.loads and not takes_older:
            self._load = resync.Resync(self._roots, self._held, self._exact)
            self._mark(self._suspects)
        else:
            self._load = loading.Loading(self._roots, self._held)

    # --- what is out of date

    def event(self, path: str, zxid: int, now: float) -> None:
        """A watch event named the path; `zxid` is -1 where the server does not tell it.

        There an offset waits only while no other change is being read, which may be of its transaction.
        """
        may_wait = zxid > 0 or (self._load is None and not self._dirty.urgent)
        if may_wait and offsets.is_offset(path) and self._deferred.add(path, zxid, now):
            return
        self._dirty.mark(path)
        self._mark(self._deferred.same_transaction(zxid))

    def children_changed(self, path: str, zxid: int) -> None:
        """A one-shot watch told that children of the path came or went."""
        self._dirty.list(path, _children(self._held.get(path)))
        self._mark(self._deferred.same_transaction(zxid))

    def doubt_refused(self) -> None:
        """Read again what was refused: a changed ACL fires no watch."""
        self._mark(sorted(self._refused)[: reading.MAX_PATHS])

    def advance(self, now: float) -> None:
        """Mark what has waited long enough."""
        self._mark(self._deferred.take(now))

    def _mark(self, paths: Iterable[str], age: int | None = None) -> None:
        for path in paths:
            self._dirty.mark(path, age)

    def _need(self, path: str, result: Znode | int, floor: int, age: int | None) -> None:
        watching.need(self._dirty, path, result, roots=self._roots, floor=floor, age=age)

    # --- requests and answers

    def next_read(self, now: float) -> Request | None:
        """Return the next request to send, None while the window is full or nothing is to be read."""
        if len(self._asked) >= reading.WINDOW:
            return None
        if self._load is None and (
            now < self._pending.reads_from or self._pending.due(now) is pending.Due.HOLD
        ):
            return None
        request: Request | None = self._dirty.next(self._held, self._cap)
        if request is None and self._load is not None:
            request = self._load.next(self._cap)
        if request is not None:
            self._asked.append(request)
            self._pending.is_quiet = False
            if isinstance(request, reading.Read):
                request.floor = self._seen
        return request

    def answer(self, read: reading.Read, znodes: Results, listings: Listings, zxid: int, now: float) -> None:
        """Take the answer to a request; it is the state as of `zxid`."""
        if znodes:
            read.level.learn(max(len(z) if isinstance(z, Znode) else 1 for z in znodes))
        if not read.is_walk:
            self._take_dirty(read, znodes, listings, now)
        elif self._load is not None:
            self._load.take(read, znodes, listings)
            if self.is_one_shot:
                for path, result in zip(read.gets, znodes, strict=True):
                    self._need(path, result, read.floor, None)
        self._answered(read, zxid)

    def watched(self, watch: stale_paths.Watch, zxid: int) -> None:
        """Take the answer to a setWatches: what had changed was told by events before it."""
        if watch.is_walk and isinstance(self._load, resync.Resync):
            self._load.watched()
        self._answered(watch, zxid)

    def _answered(self, request: Request, zxid: int) -> None:
        self._asked.popleft()
        self._seen = max(self._seen, zxid)
        if not request.is_walk:
            self._dirty.settled(request)
        if isinstance(self._load, resync.Resync):
            self._mark(self._load.doubts())
        if not self._asked and not self._dirty:
            self._pending.is_quiet = True
            self._now_includes(zxid)

    def proof(self, sent: float, zxid: int) -> None:
        """A tick that was sent at `sent` was answered: all events up to `zxid` have arrived."""
        self._seen = max(self._seen, zxid)
        if self._load is None:
            self._proofs.append((self._dirty.age, sent))
            self._dirty.age += 1
            if not self._asked and not self._dirty:
                self._now_includes(max(self._included, zxid))

    def _now_includes(self, zxid: int) -> None:
        self._included = zxid
        if self._load is None:
            self._exact = zxid

    def _take_dirty(self, read: reading.Read, znodes: Results, listings: Listings, now: float) -> None:
        target = self._held if self._load is None else self._load.fresh
        ages = iter(read.ages or ())
        for path, result, age in zip(read.gets, znodes, ages, strict=False):
            value = results.value(path, result)
            before = target.get(path)
            is_new = not results.is_same(value, before)
            if isinstance(value, Znode) and is_new and value.num_children:
                self._dirty.list(path, value.num_children, age)
            if self.is_one_shot and is_new:
                self._need(path, result, read.floor, age)
            self._put(target, path, value, now)
        for path, names, age in zip(read.lists, listings, ages, strict=True):
            base = "" if path == "/" else path
            if isinstance(names, list):
                self._mark((c for name in names if (c := f"{base}/{name}") not in target), age)
            elif self.is_one_shot and names != jute.NO_NODE:
                watch = self._dirty.watch(read.floor, age)
                watch.add(watch.child, path)

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
            self._standing += watching.count(value) - watching.count(before)
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
            if not batch.settling or isinstance(self._load, loading.Loading):
                self._exact = self._included
            self._load = None
            self._suspects.clear()
            self.loads += 1

    def prove(self) -> None:
        """Move `proved_at` on to the last tick before which everything has been re-read and published."""
        oldest = self._dirty.oldest
        while self._proofs and not self._pending.changed:
            if oldest is not None and oldest <= self._proofs[0][0]:
                return
            self.proved_at = self._proofs.popleft()[1]

    @property
    def deadline(self) -> float | None:
        """When `advance` or `due` will have something to do by itself."""
        moments = [self._deferred.due]
        if self._load is None:
            moments.append(self._pending.deadline)
            if self._dirty and not self._asked and not self._pending.changed:
                moments.append(self._pending.reads_from)
        elif self._load.done_at is not None:
            moments.append(self._load.done_at + pending.PATIENCE_S)
        return min((moment for moment in moments if moment is not None), default=None)

    def _whole(self, load: loading.Loading | resync.Resync, now: float) -> Batch | None:
        """The load as one batch once it is whole: at a quiet point, or soon after the walk without one."""
        if not load.is_walked:
            return None
        if load.done_at is None:
            load.done_at = now
        is_quiet = not self._dirty and not self._asked
        if not is_quiet and now < load.done_at + pending.PATIENCE_S:
            return None
        self._pending.changed = loading.compare(
            self._held, load.fresh, self._pending.changed, takes_older=self._takes_older
        )
        self._held = load.fresh
        self._standing = sum(map(watching.count, load.fresh.values())) if self.is_one_shot else 0
        self._refused = {path for path, value in load.fresh.items() if value.__class__ is Unreadable}
        return Batch(changed=self._pending.changed, zxid=self._included, settling=not is_quiet, whole=True)


def _children(value: results.Value | None) -> int:
    return value.num_children if isinstance(value, Znode) else 1
