"""The znodes of one cluster as the browser shows them: what is mirrored at once, everything else on demand.

What a watcher mirrors is looked up in the mirror itself. What stands outside of the mirrored roots, and ACLs,
come from ZooKeeper, on the mirror's session: for whoever opens a page on the thread of the request, for pages
that stay open on a thread of the cluster's own. The apply thread never waits.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol, TypeVar

import msgspec

from zkdash.kafka import paths
from zkdash.live.snapshot import ChangedAreas
from zkdash.live.tree.folders import KEPT_S, Folder, Folders, Owned
from zkdash.zk.reader import znode_reader
from zkdash.zk.reader.znode_reader import Visit, VisitError
from zkdash.znode import Batch, Stat, Unreadable, Znode

why_impossible = znode_reader.why_impossible

# How many znodes may be asked for at once, and how many a second in the long run; a Stat counts a fiftieth.
BURST: Final = 40.0
PER_SECOND: Final = 10.0
_STAT_COST = 0.02
# What an open page shows is asked for again after so long, and what was asked for just now is not.
_AGAIN_S = 2.0
_STATS_PER_SECOND = 25
_FRESH_S = 1.0
# After ZooKeeper did not answer.
_VAIN_S = 10.0
_MOST_SEEN = 32

TOO_MANY: Final = f"zkdash reads {PER_SECOND:g} znodes a second on demand, and others asked first."

T = TypeVar("T")
# By name; None where a child is not there (any more).
Stats = Mapping[str, Stat | Unreadable | None]


class Asking(Protocol):
    """How ZooKeeper is asked: as `zk.reader.znode_reader` does, on a session. Raises VisitError."""

    def read(self, path: str, *, whole: bool, before: Visit | None) -> Visit: ...

    def stats(self, paths: Sequence[str]) -> Stats: ...


class Seen(msgspec.Struct, frozen=True):
    """What ZooKeeper told last of one znode and of some of its children; `trouble` is why it told no more."""

    visit: Visit | None = None
    stats: Stats = {}
    trouble: str = ""


class _Entry:
    """One path that somebody looks at."""

    __slots__ = ("asked", "busy", "changes", "due", "seen", "whole")

    def __init__(self) -> None:
        self.seen = Seen()
        self.asked = 0.0
        self.due = float("-inf")
        self.changes = 0
        self.busy = self.whole = False


class Znodes:
    """See the module. Everything but `batch`, `tick` and `close` may be called from any thread."""

    def __init__(
        self,
        stored: Callable[[], Mapping[str, Znode | Unreadable]],
        asking: Asking,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._held, self._asking, self._clock = stored, asking, clock
        self._folders = Folders(stored, clock)
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._refreshing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="znodes")
        self._tokens, self._filled = BURST, clock()
        self._changed = False

    # --- what is mirrored

    def held(self, path: str) -> Znode | Unreadable | None:
        """What the mirror holds at a path."""
        return self._held().get(path)

    def folder(self, path: str) -> Folder:
        """What stands below a path, of what is mirrored. The first look at a path walks all names."""
        return self._folders.folder(path)

    def owned(self, session: int) -> Owned:
        """What a session owns, of what is mirrored. The first look at a session walks all znodes."""
        return self._folders.owned(session)

    # --- what is asked for

    def seen(self, path: str) -> Seen:
        """What ZooKeeper told last of a path; nothing is waited for."""
        entry = self._entries.get(path)
        return Seen() if entry is None else entry.seen

    def visit(self, path: str, *, whole: bool) -> Seen:
        """Ask ZooKeeper for a znode; `whole` is with data and children. Blocks, at most 3 s and a turn.

        What was told within the last second is not asked again.
        """
        entry = self._entry(path)
        entry.whole = entry.whole or whole
        if self._clock() >= entry.due - _AGAIN_S + _FRESH_S or (whole and not _is_whole(entry.seen)):
            self._read(path, entry)
        return entry.seen

    def look_at(self, path: str, names: Sequence[str]) -> Seen:
        """Ask ZooKeeper for the Stats of some children of a path that was visited. Blocks, as `visit`."""
        entry = self._entry(path)
        missing = [name for name in names if name not in entry.seen.stats]
        if missing:
            self._read_stats(path, entry, names)
        return entry.seen

    def expect(self, path: str, names: Sequence[str]) -> None:
        """Have the Stats of some children asked for soon, where they are not known."""
        entry = self._entry(path)
        if not entry.busy and any(name not in entry.seen.stats for name in names):
            entry.busy = True
            self._refreshing.submit(self._refresh, path, entry, names)

    # --- while somebody looks

    def keep_alive(self, path: str) -> None:
        """Somebody looks at a path, and did a moment ago: have it asked for again. Returns at once."""
        self._folders.keep_alive(path)
        entry = self._entries.get(path)
        if entry is None:
            return
        entry.asked = self._clock()
        if not entry.busy and entry.asked >= entry.due:
            entry.busy = True
            self._refreshing.submit(self._refresh, path, entry, tuple(entry.seen.stats))

    def keep_session_alive(self, session: int) -> None:
        """Somebody looks at what a session owns."""
        self._folders.keep_alive(session)

    def changes(self, key: str | int) -> tuple[int, int]:
        """Another value whenever what is shown of a path or a session has changed."""
        entry = self._entries.get(key) if isinstance(key, str) else None
        return self._folders.changes(key), 0 if entry is None else entry.changes

    # --- what the watcher tells, on the mirror's apply thread

    def batch(self, batch: Batch) -> ChangedAreas:
        """Take what changed; "znodes" is touched where somebody looks at it."""
        touched = self._folders.batch(batch.changed, whole=batch.whole)
        return ChangedAreas(frozenset({"znodes"})) if touched else ChangedAreas()

    def tick(self) -> ChangedAreas:
        """Once a second: forget what nobody looks at; "znodes" is touched where ZooKeeper told news."""
        self._folders.tick()
        oldest = self._clock() - KEPT_S
        with self._lock:
            for path in [path for path, entry in self._entries.items() if entry.asked < oldest]:
                del self._entries[path]
        changed, self._changed = self._changed, False
        return ChangedAreas(frozenset({"znodes"})) if changed else ChangedAreas()

    def close(self) -> None:
        self._refreshing.shutdown(wait=False, cancel_futures=True)

    def _entry(self, path: str) -> _Entry:
        with self._lock:
            entry = self._entries.get(path)
            if entry is None:
                entry = self._entries[path] = _Entry()
            entry.asked = self._clock()
            self._entries.move_to_end(path)
            if len(self._entries) > _MOST_SEEN:
                self._entries.popitem(last=False)
        return entry

    def _refresh(self, path: str, entry: _Entry, names: Sequence[str]) -> None:
        try:
            self._read(path, entry)
            if names:
                self._read_stats(path, entry, names)
        finally:
            entry.busy = False

    def _read(self, path: str, entry: _Entry) -> None:
        def ask() -> Seen:
            before = entry.seen.visit
            visit = self._asking.read(path, whole=entry.whole, before=before)
            return msgspec.structs.replace(entry.seen, visit=visit, trouble="")

        self._ask(entry, ask, cost=1.0, again=_AGAIN_S)

    def _read_stats(self, path: str, entry: _Entry, names: Sequence[str]) -> None:
        def ask() -> Seen:
            base = path.rstrip("/")
            stats = self._asking.stats([f"{base}/{name}" for name in names])
            stats_by_name = {name: stats[f"{base}/{name}"] for name in names}
            return msgspec.structs.replace(entry.seen, stats=stats_by_name, trouble="")

        again = max(_AGAIN_S, len(names) / _STATS_PER_SECOND)
        self._ask(entry, ask, cost=len(names) * _STAT_COST, again=again)

    def _ask(self, entry: _Entry, ask: Callable[[], Seen], *, cost: float, again: float) -> None:
        """Ask, one after the other and not too often, and keep what was told or why nothing was."""
        if not self._turn.acquire(timeout=znode_reader.LIMIT_S):
            self._told(entry, msgspec.structs.replace(entry.seen, trouble=TOO_MANY), _AGAIN_S)
            return
        try:
            if not self._may(cost):
                self._told(entry, msgspec.structs.replace(entry.seen, trouble=TOO_MANY), _AGAIN_S)
                return
            self._told(entry, ask(), again)
        except VisitError as error:
            self._told(entry, msgspec.structs.replace(entry.seen, trouble=str(error)), _VAIN_S)
        finally:
            self._turn.release()

    def _told(self, entry: _Entry, seen: Seen, again: float) -> None:
        entry.due = self._clock() + again
        if seen != entry.seen:
            entry.seen = seen
            entry.changes += 1
            self._changed = True

    def _may(self, cost: float) -> bool:
        now = self._clock()
        self._tokens = min(BURST, self._tokens + (now - self._filled) * PER_SECOND)
        self._filled = now
        if self._tokens < cost:
            return False
        self._tokens -= cost
        return True


_MIRRORED: Final = frozenset(paths.ROOTS)
_BELOW: Final = tuple(f"{root}/" for root in paths.ROOTS)


def is_mirrored(path: str) -> bool:
    """Whether a path is at or below one of the mirrored roots."""
    return path.startswith(_BELOW) or path in _MIRRORED


def mirrored(znodes: Mapping[str, T]) -> dict[str, T]:
    """Those of a tree that are at or below the mirrored roots, by path."""
    return {path: znode for path, znode in znodes.items() if is_mirrored(path)}


def _is_whole(seen: Seen) -> bool:
    return seen.visit is not None and (not seen.visit.is_there or seen.visit.data is not None)
