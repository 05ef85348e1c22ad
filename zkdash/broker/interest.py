"""Who is asked about next: names that somebody looks at, often; all others that count, slowly.

Knows names only. Times are monotonic seconds, given by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator


class Either(Collection[str]):
    """The names that are in one or the other of two collections, as these are now."""

    def __init__(self, first: Collection[str], other: Collection[str]) -> None:
        self._one, self._other = first, other

    def __contains__(self, name: object) -> bool:
        return name in self._one or name in self._other

    def __iter__(self) -> Iterator[str]:
        return iter({*self._one, *self._other})

    def __len__(self) -> int:
        return len({*self._one, *self._other})

    def __bool__(self) -> bool:
        return bool(self._one or self._other)


class Interest:
    """Topics, or groups.

    A name is looked at for `lease_s` after each `want`. Each round, `every_s` apart, asks about all of
    them, longest unasked first, up to `often` in size, then about the next of those kept, up to `slow`
    in size, each of these at most once in `slow_s`. A name that is new is asked about at once, from what the
    round has left.
    """

    def __init__(self, *, every_s: float, slow_s: float, lease_s: float, often: int, slow: int) -> None:
        self._every_s = every_s
        self._slow_s = slow_s
        self._lease_s = lease_s
        self._often = often
        self._slow = slow
        self._until: dict[str, float] = {}
        self._asked: dict[str, None] = {}
        self._kept: Collection[str] = ()
        self._queue: list[str] = []
        self._cycle_at = float("-inf")
        self._round_at = float("-inf")
        self._left = 0
        self._again: dict[str, None] = {}

    def again(self, names: Iterable[str]) -> None:
        """Ask about these once more in the next round, whether or not it would be their turn."""
        self._again.update(dict.fromkeys(names))

    def want(self, names: Iterable[str], now: float) -> None:
        """Somebody looks at these."""
        self._until.update(dict.fromkeys(names, now + self._lease_s))

    def keep(self, names: Collection[str]) -> None:
        """These, and no others, are worth a slow round."""
        self._kept = names

    def is_looked_at(self, name: str, now: float) -> bool:
        return self._until.get(name, now) > now

    def due(self, now: float, size: Callable[[str], int]) -> list[str]:
        """What to ask about now; `size` says what a name costs (its partitions). Counts as asked."""
        is_round = now - self._round_at >= self._every_s
        if not is_round and not self._until.keys() - self._asked.keys():
            return []
        if is_round:
            self._round_at = now
            self._left = self._often
        topics: list[str] = []
        for name in self._looked_at(now, is_round=is_round):
            cost = size(name)
            if self._left < cost and (topics or not is_round):
                break
            self._left -= cost
            topics.append(name)
        if is_round:
            topics += self._slowly(now, size)
        for name in topics:
            self._asked.pop(name, None)  # to the end: the order is that of asking
            self._asked[name] = None
        return topics

    def forget(self, now: float) -> set[str]:
        """Drop what nobody looks at any more and nobody keeps; return those names."""
        over = [name for name, until in self._until.items() if until <= now]
        for name in over:
            del self._until[name]
        gone = {n for n in (*over, *self._asked) if n not in self._until and n not in self._kept}
        for name in gone:
            self._asked.pop(name, None)
        return gone

    def _looked_at(self, now: float, *, is_round: bool) -> list[str]:
        names = [n for n, until in self._until.items() if until > now and n not in self._asked]
        if is_round:
            names += [n for n in self._asked if self._until.get(n, now) > now]
        return names

    def _slowly(self, now: float, size: Callable[[str], int]) -> list[str]:
        if not self._queue and self._kept and now - self._cycle_at >= self._slow_s:
            self._cycle_at = now
            self._queue = sorted(self._kept, reverse=True)
        again = [name for name in self._again if name not in self._until and name in self._kept]
        self._again.clear()
        self._queue += reversed(again[: self._slow // 2])  # first; others keep their turn, and half the round
        left = self._slow
        topics: dict[str, None] = {}
        while self._queue:
            name = self._queue[-1]
            if name in self._until or name not in self._kept or name in topics:
                self._queue.pop()
                continue
            left -= size(name)
            if topics and left < 0:
                break
            topics[self._queue.pop()] = None
        return list(topics)
