"""What is out of date: paths to read or to list again, one-shot watches to set; each once until asked for.

Pure bookkeeping. A mark has an age, which a mark that its answer leads to takes over: once no mark of an age
or of an earlier one is open, all that had been reported by then is read, children of children too.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable

from zkdash.zk.mirror import offsets, reading

_MAX_BYTES = 200_000


class Watch:
    """One setWatches, as of the transaction `floor`: the paths by the kind of their watches.

    `age` is that of its oldest mark, None for one of a catch-up.
    """

    __slots__ = ("age", "child", "count", "data", "exist", "floor", "size")

    def __init__(self, floor: int, age: int | None) -> None:
        self.floor, self.age = floor, age
        self.data: list[str] = []
        self.exist: list[str] = []
        self.child: list[str] = []
        self.count = self.size = 0

    @property
    def is_walk(self) -> bool:
        return self.age is None

    @property
    def is_full(self) -> bool:
        return self.count >= reading.MAX_PATHS or self.size >= _MAX_BYTES

    def add(self, paths: list[str], path: str) -> None:
        """Add a path to one of the three lists."""
        paths.append(path)
        self.count += 1
        self.size += len(path) + 4


class StalePaths:
    """See the module. `age` is that of marks from now on; `urgent` counts open marks that are no offset's."""

    def __init__(self) -> None:
        self.age = 0
        self.urgent = 0
        self._level = reading.Level()
        self._gets: dict[str, int] = {}
        self._lists: dict[str, int] = {}
        self._watches: collections.deque[Watch] = collections.deque()
        self._open: collections.Counter[int] = collections.Counter()

    def __bool__(self) -> bool:
        return bool(self._gets or self._lists or self._watches)

    @property
    def oldest(self) -> int | None:
        """The earliest age of which a mark is open, None where none is."""
        return min(self._open, default=None)

    @property
    def gets(self) -> Iterable[str]:
        """The paths that wait to be read."""
        return self._gets

    def mark(self, path: str, age: int | None = None) -> None:
        """Have the path read again."""
        if path not in self._gets:
            self._level.gets.append(path)
            self._gets[path] = self._opened(age)
            self.urgent += not offsets.is_offset(path)

    def list(self, path: str, count: int, age: int | None = None) -> None:
        """Have the children of a path, some `count`, listed."""
        if path not in self._lists:
            self._level.lists.append((path, count, 0))
            self._lists[path] = self._opened(age)
            self.urgent += 1

    def watch(self, floor: int, age: int | None = None) -> Watch:
        """The setWatches to which a path that was read as of `floor` or later may be added."""
        age = self.age if age is None else age
        last = self._watches[-1] if self._watches else None
        if last is None or last.is_full:
            last = Watch(floor, self._opened(age))
            self._watches.append(last)
        last.floor = min(last.floor, floor)
        if last.age is None or age < last.age:
            self._close(last.age)
            last.age = self._opened(age)
        return last

    def next(self, stored: reading.Held, cap: int) -> reading.Read | Watch | None:
        """Return the next request, None where nothing is dirty."""
        if self._gets or self._lists:
            read = reading.take(reading.Read(self._level, []), stored, cap)
            read.ages = [self._gets.pop(path) for path in read.gets]
            read.ages += [self._lists.pop(path) for path in read.lists]
            return read
        return self._watches.popleft() if self._watches else None

    def settled(self, request: reading.Read | Watch) -> None:
        """Close the marks of a request whose answer has been taken."""
        if isinstance(request, Watch):
            self._close(request.age)
            return
        for age in request.ages or ():
            self._close(age)
        self.urgent -= len(request.lists) + sum(not offsets.is_offset(path) for path in request.gets)

    def _opened(self, age: int | None) -> int:
        age = self.age if age is None else age
        self._open[age] += 1
        return age

    def _close(self, age: int | None) -> None:
        if age is None:
            return
        self._open[age] -= 1
        if not self._open[age]:
            del self._open[age]
