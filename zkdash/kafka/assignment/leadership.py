"""Which replica stands first, so that brokers are preferred leaders of as many partitions each.

Only the order of replicas changes: nothing is copied.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Hashable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


def spread(
    lists: Mapping[K, tuple[int, ...]], brokers: Collection[int], free: Collection[K] | None = None
) -> dict[K, tuple[int, ...]]:
    """The lists with leaders as even as their replicas allow, by the fewest changes found.

    `free` are the keys whose order may change, all where None; the others count as they are. Brokers that
    are not named get no leader.
    """
    leaders = _Leaders(lists, frozenset(brokers), lists if free is None else free)
    while path := leaders.path():
        for one, other in itertools.pairwise(path):
            leaders.hand_over(one, other)
    return {key: tuple(replicas) for key, replicas in leaders.lists.items()}


class _Leaders(Generic[K]):
    """Who leads what, and by which partitions the lead can go from one broker to another."""

    def __init__(
        self, lists: Mapping[K, tuple[int, ...]], brokers: frozenset[int], free: Collection[K]
    ) -> None:
        self.lists = {key: list(replicas) for key, replicas in lists.items()}
        self.brokers = brokers
        self.led = dict.fromkeys(sorted(brokers), 0)
        self.ways: dict[int, dict[int, dict[K, None]]] = {broker: {} for broker in self.led}
        for replicas in lists.values():
            if replicas and replicas[0] in self.led:
                self.led[replicas[0]] += 1
        for key in free:
            self._open(key)

    def path(self) -> list[int]:
        """The shortest way along which a lead can be handed down by two or more; empty where none is."""
        for source in sorted(self.led, key=lambda broker: (-self.led[broker], broker)):
            came = {source: source}
            queue = deque([source])
            while queue:
                one = queue.popleft()
                for other in sorted(self.ways[one], key=lambda broker: (self.led[broker], broker)):
                    if other in came or not self.ways[one][other]:
                        continue
                    came[other] = one
                    if self.led[other] <= self.led[source] - 2:
                        return _way(came, other)
                    queue.append(other)
        return []

    def hand_over(self, one: int, other: int) -> None:
        key = next(iter(self.ways[one][other]))
        self._close(key)
        replicas = self.lists[key]
        at = replicas.index(other)
        replicas[0], replicas[at] = replicas[at], replicas[0]
        self.led[one] -= 1
        self.led[other] += 1
        self._open(key)

    def _open(self, key: K) -> None:
        first, *rest = self.lists[key] or [-1]
        if first in self.led:
            for other in rest:
                if other in self.led:
                    self.ways[first].setdefault(other, {})[key] = None

    def _close(self, key: K) -> None:
        first, *rest = self.lists[key]
        for other in rest:
            if other in self.led:
                del self.ways[first][other][key]


def _way(came: Mapping[int, int], end: int) -> list[int]:
    path = [end]
    while came[path[-1]] != path[-1]:
        path.append(came[path[-1]])
    return path[::-1]
