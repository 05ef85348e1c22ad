"""A catch-up that reads only what changed: one-shot watches are set again, as of what is held; all is listed.

`setWatches` makes the server itself tell what was set, deleted or gained children since a transaction; that
is marked dirty and read. A server that replayed its log over a snapshot may know a wrong pzxid of a znode
whose child was deleted (ZOOKEEPER-3125), which is why every znode that has or had children is listed.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence

from zkdash.zk.mirror import reading, results, watching
from zkdash.zk.mirror.stale_paths import Watch
from zkdash.znode import Znode

_CVERSION = slice(-32, -28)  # how often children came or went
_NEVER = bytes(4)


class Resync:
    """A load under way, as `loading.Loading` is, from `stored`, which is exact as of the zxid."""

    def __init__(self, roots: Sequence[str], stored: Mapping[str, results.Value], zxid: int) -> None:
        self.fresh = dict(stored)
        self.done_at: float | None = None
        self._requests = self._plan([root for root in roots if root not in stored], zxid)
        self._following = next(self._requests, None)
        self._counts: collections.Counter[str] = collections.Counter()
        self._odd: dict[str, frozenset[str]] = {}
        self._in_flight = 0

    @property
    def is_walked(self) -> bool:
        return self._following is None and not self._in_flight and not self._odd

    @property
    def expected(self) -> int | None:
        return len(self.fresh)

    def next(self, _cap: int) -> reading.Read | Watch | None:
        """Return the next request, None once all were asked. Listings are short, whatever data is not."""
        request = self._following
        if request is not None:
            self._following = next(self._requests, None)
            self._in_flight += 1
        return request

    def take(
        self, read: reading.Read, _znodes: Sequence[Znode | int], listings: Sequence[list[str] | int]
    ) -> None:
        """Hold listings against what is held: a parent with other children is looked at by `doubts`."""
        fresh, counts = self.fresh, self._counts
        for path, names in zip(read.lists, listings, strict=True):
            if not isinstance(names, list):
                continue
            base = "" if path == "/" else path
            if len(names) != counts[path] or any(f"{base}/{name}" not in fresh for name in names):
                self._odd[path] = frozenset(names)
        self._in_flight -= 1

    def watched(self) -> None:
        """Count one of the setWatches as answered: its events have come."""
        self._in_flight -= 1

    def doubts(self) -> Iterable[str]:
        """Return, once all is listed, the paths on which a listing and what is held disagree."""
        if not self._odd or self._in_flight or self._following is not None:
            return ()
        odd, self._odd = self._odd, {}
        doubted = [path for path in self.fresh if _name(path) not in odd.get(_parent(path), (_name(path),))]
        for parent, names in odd.items():
            base = "" if parent == "/" else parent
            doubted += [path for name in names if (path := f"{base}/{name}") not in self.fresh]
        return doubted

    def _plan(self, absent: list[str], zxid: int) -> Iterator[reading.Read | Watch]:
        watch = Watch(zxid, None)
        for path in absent:
            watch.add(watch.exist, path)
        for path, value in list(self.fresh.items()):
            watch.add(watch.data, path)
            if isinstance(value, Znode) and watching.may_have_children(value):
                watch.add(watch.child, path)
            if watch.is_full:
                yield watch
                watch = Watch(zxid, None)
        if watch.count:
            yield watch
        self._counts.update(map(_parent, self.fresh))
        level = reading.Level()
        level.lists.extend(
            (path, self._counts[path], 0)
            for path, value in self.fresh.items()
            if path in self._counts or (isinstance(value, Znode) and value[_CVERSION] != _NEVER)
        )
        while level.lists:
            yield reading.take(reading.Read(level, None), {}, reading.MAX_PATHS)


def _parent(path: str) -> str:
    """The path of the parent; of "/" one that no znode has."""
    return (path.rpartition("/")[0] or "/") if path != "/" else ""


def _name(path: str) -> str:
    return path.rpartition("/")[2]
