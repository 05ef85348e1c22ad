"""Which znodes stand below which, and which a session owns, of what a mirror holds: only what is looked at.

The mirror holds a plain mapping by path. Whoever first looks at a znode has all names walked once, on
the thread that looks; from then on the batches keep what was found, for as long as somebody looks. What is
held may be ahead of the last batch, so that a batch may tell again what is known: that changes nothing.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from zkdash.znode import Unreadable, Znode

Held = Mapping[str, Znode | Unreadable]
Read = Znode | Unreadable | None

# Nobody asked for so long: it is forgotten. Open pages ask every 2 s.
KEPT_S: Final = 30.0
MOST: Final = 64
_FILL_LIMIT_S = 10.0
# Where the owner's eight bytes end, counted from the end of a packed znode.
_OWNER_ENDS = -16


class Folder:
    """What stands below the znode `path`: its children, by name, and how many children each of them has."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._prefix = "/" if path == "/" else path + "/"
        self._names: list[str] = []
        self._below: dict[str, set[str]] = {}

    def __len__(self) -> int:
        return len(self._names)

    def names(self, cut: slice = slice(None)) -> list[str]:
        """The children's names in their order, or some of them."""
        return self._names[cut]

    def children(self, name: str) -> int:
        """How many children a child has."""
        return len(self._below.get(name, ()))

    def fill(self, paths: Sequence[str], _held: Held) -> None:
        prefix, start = self._prefix, len(self._prefix)
        names: list[str] = []
        below: dict[str, set[str]] = {}
        for path in [path for path in paths if path.startswith(prefix) and path.count("/", start) < 2]:
            name, _, rest = path[start:].partition("/")
            if rest:
                below.setdefault(name, set()).add(rest)
            elif name:
                names.append(name)
        names.sort()
        self._names, self._below = names, below

    def touch(self, path: str, read: Read) -> bool:
        """Take one change at, right below, or two below the path; True where that shows on its page."""
        if path == self._path:
            return True
        name, _, rest = path[len(self._prefix) :].partition("/")
        if not rest:
            self._put(name, is_there=read is not None)
            return True
        below = self._below.get(name, set())
        if (rest in below) == (read is not None):
            return False
        if read is not None:
            self._below.setdefault(name, below).add(rest)
        else:
            below.remove(rest)
            if not below:
                del self._below[name]
        return True

    def _put(self, name: str, *, is_there: bool) -> None:
        at = bisect_left(self._names, name)
        is_known = at < len(self._names) and self._names[at] == name
        if is_there and not is_known:
            insort(self._names, name)
        elif is_known and not is_there:
            del self._names[at]


class Owned:
    """The ephemeral znodes of one session, by path."""

    def __init__(self, session: int) -> None:
        self._owner = session.to_bytes(8, "big", signed=True)
        self._paths: set[str] = set()

    def paths(self) -> list[str]:
        return sorted(self._paths.copy())

    def fill(self, paths: Sequence[str], znodes: Held) -> None:
        self._paths = {path for path in paths if self._owns(znodes.get(path))}

    def touch(self, path: str, read: Read) -> bool:
        was, now = path in self._paths, self._owns(read)
        if now:
            self._paths.add(path)
        else:
            self._paths.discard(path)
        return was or now

    def _owns(self, read: Read) -> bool:
        return isinstance(read, Znode) and read.endswith(self._owner, None, _OWNER_ENDS)


class Index(Protocol):
    """What Folder and Owned have in common."""

    def fill(self, paths: Sequence[str], znodes: Held) -> None: ...

    def touch(self, path: str, read: Read) -> bool: ...


class _Slot:
    """One of them: when it was last asked for, how often it changed, and what came while it was filled."""

    __slots__ = ("asked", "changes", "index", "late", "ready")

    def __init__(self, index: Index, asked_at: float) -> None:
        self.index, self.asked, self.changes = index, asked_at, 0
        self.late: list[tuple[str, Read]] | None = []
        self.ready = threading.Event()


class Folders:
    """Those of one cluster that somebody looks at; `znodes` are what the mirror holds now. For any thread."""

    def __init__(self, znodes: Callable[[], Held], clock: Callable[[], float] = time.monotonic) -> None:
        self._held, self._clock = znodes, clock
        self._lock = threading.Lock()
        self._slots: OrderedDict[str | int, _Slot] = OrderedDict()

    def folder(self, path: str) -> Folder:
        folder = self._index(path, lambda: Folder(path))
        assert isinstance(folder, Folder), "a path names a folder"  # noqa: S101
        return folder

    def owned(self, session: int) -> Owned:
        owned = self._index(session, lambda: Owned(session))
        assert isinstance(owned, Owned), "a number names a session"  # noqa: S101
        return owned

    def keep_alive(self, key: str | int) -> None:
        """Keep what is known of a path or session: somebody looks at it."""
        slot = self._slots.get(key)
        if slot is not None:
            slot.asked = self._clock()

    def changes(self, key: str | int) -> int:
        """How often what is shown of a path or session has changed."""
        slot = self._slots.get(key)
        return 0 if slot is None else slot.changes

    def batch(self, changed: Mapping[str, Read], *, whole: bool) -> bool:
        """Take a batch; True where something changed that somebody looks at."""
        if not self._slots:
            return False
        with self._lock:
            if whole:
                self._slots.clear()
                return True
            sessions = [key for key in self._slots if isinstance(key, int)]
            touched = False
            for path, read in changed.items():
                parent = path.rpartition("/")[0] or "/"
                keys: set[str | int] = {path, parent, parent.rpartition("/")[0] or "/", *sessions}
                for key in keys:
                    slot = self._slots.get(key)
                    touched = (slot is not None and _touch(slot, path, read)) or touched
            return touched

    def tick(self) -> None:
        """Forget what nobody looks at any more."""
        oldest = self._clock() - KEPT_S
        with self._lock:
            for key in [key for key, slot in self._slots.items() if slot.asked < oldest]:
                del self._slots[key]

    def _index(self, key: str | int, make: Callable[[], Index]) -> Index:
        with self._lock:
            slot = self._slots.get(key)
            is_new = slot is None
            if slot is None:
                slot = self._slots[key] = _Slot(make(), 0.0)
            slot.asked = self._clock()
            self._slots.move_to_end(key)
            if len(self._slots) > MOST:
                self._slots.popitem(last=False)
        if is_new:
            self._fill(key, slot)
        else:
            slot.ready.wait(_FILL_LIMIT_S)
        return slot.index

    def _fill(self, key: str | int, slot: _Slot) -> None:
        try:
            znodes = self._held()
            slot.index.fill(list(znodes), znodes)  # the list is made at once, whatever the apply thread does
        except BaseException:
            self._slots.pop(key, None)
            raise
        finally:
            with self._lock:
                late, slot.late = slot.late or [], None
                for path, read in late:
                    slot.index.touch(path, read)
            slot.ready.set()


def _touch(slot: _Slot, path: str, read: Read) -> bool:
    if slot.late is not None:
        slot.late.append((path, read))
        return True
    touched = slot.index.touch(path, read)
    slot.changes += touched
    return touched
