"""Where replicas go so that the fewest are copied: away from brokers, onto new ones, evenly, over racks.

Lists of replicas come by any key (a topic and a partition), the preferred leader first. The rack rule: a
partition's replicas lie in as many racks as they can, and no change makes it fewer without need. All is
decided by counts and order, never by lot, so that the same question gets the same answer.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
Lists = Mapping[K, tuple[int, ...]]


class Impossible(ValueError):  # noqa: N818 - an answer about the cluster, not a fault of ours
    """No placement does what was asked; the text is a sentence."""


def drain(
    lists: Lists[K], leaving: Collection[int], brokers: Collection[int], racks: Mapping[int, str]
) -> dict[K, tuple[int, ...]]:
    """The lists without the brokers that leave: exactly their replicas move, each to the least loaded.

    `brokers` may be given new replicas (those that leave are taken out); `racks` is empty where not every
    broker has one. Raises Impossible where fewer brokers are left than a partition has replicas.
    """
    spread = Spread(lists, [broker for broker in brokers if broker not in leaving], racks)
    for key in lists:
        for old in lists[key]:
            if old in leaving:
                spread.replace(key, old, spread.best(key, instead_of=old))
    return spread.close()


def replace(
    lists: Lists[K], old: int, new: int, brokers: Collection[int], racks: Mapping[int, str]
) -> dict[K, tuple[int, ...]]:
    """The lists with one broker in another's stead, whatever its rack; where it is in the list already, the
    old one is drained."""
    spread = Spread(lists, [broker for broker in brokers if broker != old], racks)
    for key, replicas in lists.items():
        if old in replicas:
            spread.replace(
                key, old, new if new not in spread.lists[key] else spread.best(key, instead_of=old)
            )
    return spread.close()


def fill(
    lists: Lists[K], new: Collection[int], brokers: Collection[int], racks: Mapping[int, str]
) -> dict[K, tuple[int, ...]]:
    """The lists with new brokers filled up to the mean from the most loaded others; nothing else moves."""
    spread = Spread(lists, brokers, racks)
    mean = sum(spread.load.values()) // max(1, len(spread.load))
    old = [broker for broker in spread.load if broker not in new]
    full: set[int] = set()
    while thirsty := [b for b in spread.load if b in new and b not in full and spread.load[b] < mean]:
        into = min(thirsty, key=lambda broker: (spread.load[broker], broker))
        if not any(spread.shift(one, into) for one in spread.donors(old, into)):
            full.add(into)
    return spread.close()


def level(lists: Lists[K], brokers: Collection[int], racks: Mapping[int, str]) -> dict[K, tuple[int, ...]]:
    """The lists with every broker holding as many replicas as any other, within one where racks allow it.

    Replicas on brokers that are not named are replaced, and racks that hold two of a partition's replicas
    without need give one up.
    """
    leaving = {broker for replicas in lists.values() for broker in replicas}.difference(brokers)
    spread = Spread(drain(lists, leaving, brokers, racks), brokers, racks)
    for key in lists:
        spread.mend(key)
    spread.even()
    return spread.close()


def resize(
    lists: Lists[K],
    factor: int,
    brokers: Collection[int],
    racks: Mapping[int, str],
    in_sync: Mapping[K, Collection[int]],
) -> dict[K, tuple[int, ...]]:
    """The lists with `factor` replicas each. What is in sync stays before what is not, and the preferred
    leader stays where it can; brokers that are not named go first."""
    spread = Spread(lists, brokers, racks)
    for key in lists:
        while len(spread.lists[key]) > factor:
            spread.drop(key, spread.spare(key, in_sync.get(key, lists[key])))
        while len(spread.lists[key]) < factor:
            spread.append(key, spread.best(key))
    return spread.close()


def moved(before: Lists[K], after: Lists[K]) -> int:
    """How many replicas are copied to a broker that did not have them."""
    return sum(len(set(after[key]).difference(before[key])) for key in after)


def rack_count(replicas: Iterable[int], racks: Mapping[int, str]) -> int:
    """In how many racks a partition's replicas lie."""
    return len({racks[broker] for broker in replicas if broker in racks})


class Spread(Generic[K]):
    """The lists while they are changed, with what each broker holds."""

    def __init__(self, lists: Lists[K], brokers: Collection[int], racks: Mapping[int, str]) -> None:
        self.lists = {key: list(replicas) for key, replicas in lists.items()}
        self.racks = racks
        self.most_racks = len({racks[broker] for broker in brokers if broker in racks})
        self.held: dict[int, dict[K, None]] = {broker: {} for broker in sorted(brokers)}
        for key, replicas in lists.items():
            for broker in replicas:
                if broker in self.held:
                    self.held[broker][key] = None
        self.load = {broker: len(keys) for broker, keys in self.held.items()}

    def close(self) -> dict[K, tuple[int, ...]]:
        return {key: tuple(replicas) for key, replicas in self.lists.items()}

    def best(self, key: K, *, instead_of: int | None = None) -> int:
        """The broker for one more replica: a rack that is not used yet, then the least load, then the id."""
        replicas = self.lists[key]
        used = {self.racks.get(broker) for broker in replicas if broker != instead_of}
        free = [broker for broker in self.held if broker not in replicas]
        if not free:
            message = f"{len(self.held)} brokers are too few for a partition that needs one more replica"
            raise Impossible(message)
        return min(free, key=lambda one: (bool(self.racks) and self.racks[one] in used, self.load[one], one))

    def spare(self, key: K, in_sync: Collection[int]) -> int:
        """The replica to give up: not a live broker's, not in sync, doubled in its rack, the most loaded,
        the preferred leader last."""
        replicas = self.lists[key]

        def worth(broker: int) -> tuple[bool, bool, bool, bool, int, int]:
            others = rack_count((one for one in replicas if one != broker), self.racks)
            alone = others < rack_count(replicas, self.racks)
            first = broker == replicas[0]
            return broker in self.held, broker in in_sync, first, alone, -self.load.get(broker, 0), broker

        return min(replicas, key=worth)

    def replace(self, key: K, old: int, new: int) -> None:
        replicas = self.lists[key]
        replicas[replicas.index(old)] = new
        self._lose(key, old)
        self._gain(key, new)

    def append(self, key: K, new: int) -> None:
        self.lists[key].append(new)
        self._gain(key, new)

    def drop(self, key: K, old: int) -> None:
        self.lists[key].remove(old)
        self._lose(key, old)

    def mend(self, key: K) -> None:
        """Spread one partition over as many racks as it can be."""
        while rack_count(self.lists[key], self.racks) < min(len(self.lists[key]), self.most_racks):
            doubled = [b for b in self.lists[key] if self._shares_rack(key, b)]
            old = max(doubled, key=lambda broker: (self.load.get(broker, 0), broker))
            self.replace(key, old, self.best(key, instead_of=old))

    def even(self) -> None:
        """Shift replicas from more to less loaded brokers, by others between where no direct way is."""
        while path := self._path():
            for one, other in itertools.pairwise(path):
                self.shift(one, other)

    def donors(self, among: Iterable[int], into: int) -> list[int]:
        """The brokers that have at least two replicas more, the most loaded first."""
        above = [broker for broker in among if self.load[broker] > self.load[into] + 1]
        return sorted(above, key=lambda broker: (-self.load[broker], broker))

    def shift(self, one: int, other: int) -> bool:
        """Let one replica of `one` be held by `other` instead, if there is any that may be."""
        key = next(self._shiftable(one, other), None)
        if key is None:
            return False
        self.replace(key, one, other)
        return True

    def _shiftable(self, one: int, other: int) -> Iterator[K]:
        """The partitions whose replica may go from one broker to another; followers before leaders."""
        leaders = []
        for key in self.held[one]:
            replicas = self.lists[key]
            if other in replicas or not self._keeps_racks(key, one, other):
                continue
            if replicas[0] == one:
                leaders.append(key)
            else:
                yield key
        yield from leaders

    def _path(self) -> list[int]:
        """The shortest way by which a replica's worth of load can flow down by two or more; empty: none."""
        for source in sorted(self.load, key=lambda broker: (-self.load[broker], broker)):
            lower = {broker for broker, load in self.load.items() if load <= self.load[source] - 2}
            if not lower:
                return []
            if path := self._flow(source, lower):
                return path
        return []

    def _flow(self, source: int, lower: set[int]) -> list[int]:
        came = {source: source}
        queue = deque([source])
        while queue:
            one = queue.popleft()
            rest = (broker for broker in self.load if broker not in came)
            for other in sorted(rest, key=lambda broker: (self.load[broker], broker)):
                if next(self._shiftable(one, other), None) is None:
                    continue
                came[other] = one
                if other in lower:
                    return _way(came, other)
                queue.append(other)
        return []

    def _keeps_racks(self, key: K, one: int, other: int) -> bool:
        if not self.racks or self.racks[one] == self.racks[other]:
            return True
        kept = [other if broker == one else broker for broker in self.lists[key]]
        return rack_count(kept, self.racks) >= rack_count(self.lists[key], self.racks)

    def _shares_rack(self, key: K, broker: int) -> bool:
        return any(
            other != broker and self.racks.get(other) == self.racks.get(broker) for other in self.lists[key]
        )

    def _gain(self, key: K, broker: int) -> None:
        if broker in self.held:
            self.held[broker][key] = None
            self.load[broker] += 1

    def _lose(self, key: K, broker: int) -> None:
        if broker in self.held:
            del self.held[broker][key]
            self.load[broker] -= 1


def _way(came: Mapping[int, int], end: int) -> list[int]:
    path = [end]
    while came[path[-1]] != path[-1]:
        path.append(came[path[-1]])
    return path[::-1]
