"""What to read next, in requests of bounded answers: the walk over the roots.

Pure bookkeeping: nothing of sockets, threads or the clock. An answer's size is not known before it comes,
so a request holds few paths (16) until the first answers of that level of the tree came, and from then on as
many as the longest of the last answers allows; what is over 64 KiB is read alone.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from zkdash.znode import Unreadable, Znode

WINDOW = 4
MAX_PATHS = 1000
_FIRST = 16
_BUDGET = 2 * 1024 * 1024
_ALONE = 64 * 1024
_GUESS = 4096
_NAME = 48
_MAX_ASKED = 200_000
_COUNTS = struct.Struct("!iq")  # a Stat ends in numChildren and pzxid

Held = Mapping[str, Znode | Unreadable]


class Level:
    """One depth of one root: what there is still to get and to list, and how long the last data was.

    `only` is the name of the last only child that was listed here: a sibling with one child is asked for it
    straight away (the 200 000 partitions of a big cluster all have the one child "state"). One wrong guess
    ends the guessing. `lists` are (path, number of children, pzxid).
    """

    __slots__ = ("gets", "guesses", "hint", "lists", "lower", "only")

    def __init__(self) -> None:
        self.gets: deque[str] = deque()
        self.lists: deque[tuple[str, int, int]] = deque()
        self.hint: int | None = None
        self.guesses = True
        self.only: str | None = None
        self.lower: Level | None = None

    @property
    def below(self) -> Level:
        if self.lower is None:
            self.lower = Level()
        return self.lower

    @property
    def existing(self) -> Iterable[Level]:
        """This level and those below it that were reached."""
        level: Level | None = self
        while level is not None:
            yield level
            level = level.lower

    def learn(self, longest: int) -> None:
        """Take in the longest data of an answer; what was longer before is forgotten by halves."""
        self.hint = max(longest, (self.hint or 0) // 2, 1)


class Read:
    """One request for paths to get and to list, of one level.

    `ages` are those of the dirty marks that it settles, gets first, None for a walk's request. The answer is
    the state as of the transaction `floor` or a later one.
    """

    __slots__ = ("ages", "floor", "gets", "level", "lists")

    def __init__(self, level: Level, ages: list[int] | None) -> None:
        self.level = level
        self.gets: list[str] = []
        self.lists: list[str] = []
        self.ages = ages
        self.floor = 0

    @property
    def is_walk(self) -> bool:
        return self.ages is None


def take(read: Read, stored: Held, cap: int) -> Read:
    """Move what fits from the level into the request: gets first, then listings."""
    level = read.level
    size = _take_gets(read, stored, min(cap, _FIRST) if level.hint is None else cap)
    lists, taken = level.lists, read.lists
    while lists and len(read.gets) + len(taken) < cap:
        expected = lists[0][1] * _NAME
        if (read.gets or taken) and size + expected > _BUDGET:
            break
        taken.append(lists.popleft()[0])
        size += expected
    return read


def _take_gets(read: Read, stored: Held, cap: int) -> int:
    gets, taken, hint = read.level.gets, read.gets, read.level.hint or _GUESS
    size = path_size = 0
    while gets and len(taken) < cap:
        znode = stored.get(gets[0])
        expected = len(znode) if isinstance(znode, Znode) else hint
        path_size += len(gets[0])
        if taken and (expected > _ALONE or size + expected > _BUDGET or path_size > _MAX_ASKED):
            break
        taken.append(gets.popleft())
        size += expected
        if expected > _ALONE:
            break
    return size


class Walk:
    """A reading of everything below the roots, level by level."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._tops: list[Level] = []
        self._guesses: dict[str, tuple[Level, str, int]] = {}
        self._in_flight = 0
        self.expected = 0
        for root in roots:
            level = Level()
            level.gets.append(root)
            self._tops.append(level)

    @property
    def is_done(self) -> bool:
        return not self._in_flight and self._ready() is None

    def next(self, stored: Held, cap: int) -> Read | None:
        """Return the next request, None where there is none before an answer comes."""
        level = self._ready()
        if level is None:
            return None
        self._in_flight += 1
        return take(Read(level, None), stored, cap)

    def answered(self) -> None:
        """Count an answer to one of the walk's requests as wholly taken."""
        self._in_flight -= 1

    def found(self, level: Level, path: str, znode: Znode) -> None:
        """Take in a znode that has children: list it, or get the only child that it probably has."""
        count, pzxid = _COUNTS.unpack_from(znode, len(znode) - _COUNTS.size)
        self.expected += count
        if count == 1 and level.only is not None:
            self._guess(level, path, pzxid)
        else:
            level.lists.append((path, count, pzxid))

    def listed(self, level: Level, path: str, names: list[str]) -> None:
        """Take in the children of a znode: all are to get."""
        base = "" if path == "/" else path
        level.below.gets.extend([f"{base}/{name}" for name in names])
        if len(names) == 1 and level.guesses and level.only is None and path != "/":
            level.only = names[0]
            self._guess_all(level)

    def checked(self, paths: list[str], results: Sequence[Znode | int]) -> None:
        """Hold what gets gave against the guesses that asked for them.

        A guess is right only if the child existed when its parent counted one child, which is when its
        czxid is not above the parent's pzxid then; otherwise the parent is listed after all.
        """
        for path, result in zip(paths, results, strict=True):
            guess = self._guesses.pop(path, None)
            if guess is None:
                continue
            level, parent, pzxid = guess
            if isinstance(result, int) or result.czxid > pzxid:
                level.guesses, level.only = False, None
                level.lists.append((parent, 1, pzxid))

    def _guess(self, level: Level, path: str, pzxid: int) -> None:
        child = f"{path}/{level.only}"
        self._guesses[child] = (level, path, pzxid)
        level.below.gets.append(child)

    def _guess_all(self, level: Level) -> None:
        """Guess for those that wait to be listed too: all gets of a level come before its first listing."""
        waiting, level.lists = level.lists, deque()
        for path, count, pzxid in waiting:
            if count == 1:
                self._guess(level, path, pzxid)
            else:
                level.lists.append((path, count, pzxid))

    @property
    def has_guesses(self) -> bool:
        return bool(self._guesses)

    def _ready(self) -> Level | None:
        for top in self._tops:
            for level in top.existing:
                if level.gets or level.lists:
                    return level
        return None
