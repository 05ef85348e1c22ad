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
    replica_lists = ReplicaLists(lists, [broker for broker in brokers if broker not in leaving], racks)
    for key in lists:
        for old in lists[key]:
            if old in leaving:
                replica_lists.replace(key, old, replica_lists.best(key, instead_of=old))
    return replica_lists.close()


def replace(
    lists: Lists[K], old: int, new: int, brokers: Collection[int], racks: Mapping[int, str]
) -> dict[K, tuple[int, ...]]:
    """The lists with one broker in another's stead, whatever its rack; where it is in the list already, the
    old one is drained."""
    replica_lists = ReplicaLists(lists, [broker for broker in brokers if broker != old], racks)
    for key, replicas in lists.items():
        if old in replicas:
            replica_lists.replace(
                key,
                old,
                new if new not in replica_lists.lists[key] else replica_lists.best(key, instead_of=old),
            )
    return replica_lists.close()


def fill(
    lists: Lists[K], new: Collection[int], brokers: Collection[int], racks: Mapping[int, str]
) -> dict[K, tuple[int, ...]]:
    """The lists with new brokers filled up to the mean from the most loaded others; nothing else moves."""
    replica_lists = ReplicaLists(lists, brokers, racks)
    mean = sum(replica_lists.load.values()) // max(1, len(replica_lists.load))
    old = [broker for broker in replica_lists.load if broker not in new]
    full: set[int] = set()
    while thirsty := [
        b for b in replica_lists.load if b in new and b not in full and replica_lists.load[b] < mean
    ]:
        into = min(thirsty, key=lambda broker: (replica_lists.load[broker], broker))
        if not any(replica_lists.shift(donor, into) for donor in replica_lists.donors(old, into)):
            full.add(into)
    return replica_lists.close()


def level(lists: Lists[K], brokers: Collection[int], racks: Mapping[int, str]) -> dict[K, tuple[int, ...]]:
    """The lists with every broker holding as many replicas as any other, within one where racks allow it.

    Replicas on brokers that are not named are replaced, and racks that hold two of a partition's replicas
    without need give one up.
    """
    leaving = {broker for replicas in lists.values() for broker in replicas}.difference(brokers)
    replica_lists = ReplicaLists(drain(lists, leaving, brokers, racks), brokers, racks)
    for key in lists:
        replica_lists.mend(key)
    replica_lists.even()
    return replica_lists.close()


def resize(
    lists: Lists[K],
    factor: int,
    brokers: Collection[int],
    racks: Mapping[int, str],
    in_sync: Mapping[K, Collection[int]],
) -> dict[K, tuple[int, ...]]:
    """The lists with `factor` replicas each. What is in sync stays before what is not, and the preferred
    leader stays where it can; brokers that are not named go first."""
    replica_lists = ReplicaLists(lists, brokers, racks)
    for key in lists:
        while len(replica_lists.lists[key]) > factor:
            replica_lists.drop(key, replica_lists.spare(key, in_sync.get(key, lists[key])))
        while len(replica_lists.lists[key]) < factor:
            replica_lists.append(key, replica_lists.best(key))
    return replica_lists.close()


def moved(before: Lists[K], after: Lists[K]) -> int:
    """How many replicas are copied to a broker that did not have them."""
    return sum(len(set(after[key]).difference(before[key])) for key in after)


def rack_count(replicas: Iterable[int], racks: Mapping[int, str]) -> int:
    """In how many racks a partition's replicas lie."""
    return len({racks[broker] for broker in replicas if broker in racks})


class ReplicaLists(Generic[K]):
    """The lists while they are changed, with what each broker holds."""

    def __init__(self, lists: Lists[K], brokers: Collection[int], racks: Mapping[int, str]) -> None:
        self.lists = {key: list(replicas) for key, replicas in lists.items()}
        self.racks = racks
        self.most_racks = len({racks[broker] for broker in brokers if broker in racks})
        self.keys_on: dict[int, dict[K, None]] = {broker: {} for broker in sorted(brokers)}
        for key, replicas in lists.items():
            for broker in replicas:
                if broker in self.keys_on:
                    self.keys_on[broker][key] = None
        self.load = {broker: len(keys) for broker, keys in self.keys_on.items()}

    def close(self) -> dict[K, tuple[int, ...]]:
        return {key: tuple(replicas) for key, replicas in self.lists.items()}

    def best(self, key: K, *, instead_of: int | None = None) -> int:
        """The broker for one more replica: a rack that is not used yet, then the least load, then the id."""
        replicas = self.lists[key]
        used = {self.racks.get(broker) for broker in replicas if broker != instead_of}
        free = [broker for broker in self.keys_on if broker not in replicas]
        if not free:
            message = f"{len(self.keys_on)} brokers are too few for a partition that needs one more replica"
            raise Impossible(message)
        return min(
            free,
            key=lambda broker: (bool(self.racks) and self.racks[broker] in used, self.load[broker], broker),
        )

    def spare(self, key: K, in_sync: Collection[int]) -> int:
        """The replica to give up: not a live broker's, not in sync, doubled in its rack, the most loaded,
        the preferred leader last."""
        replicas = self.lists[key]

        def worth(broker: int) -> tuple[bool, bool, bool, bool, int, int]:
            others = rack_count((other for other in replicas if other != broker), self.racks)
            alone = others < rack_count(replicas, self.racks)
            first = broker == replicas[0]
            return broker in self.keys_on, broker in in_sync, first, alone, -self.load.get(broker, 0), broker

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
            for giver, taker in itertools.pairwise(path):
                self.shift(giver, taker)

    def donors(self, among: Iterable[int], into: int) -> list[int]:
        """The brokers that have at least two replicas more, the most loaded first."""
        above = [broker for broker in among if self.load[broker] > self.load[into] + 1]
        return sorted(above, key=lambda broker: (-self.load[broker], broker))

    def shift(self, giver: int, taker: int) -> bool:
        """Let `taker` hold one replica of `giver` instead, if there is any that may be."""
        key = next(self._shiftable(giver, taker), None)
        if key is None:
            return False
        self.replace(key, giver, taker)
        return True

    def _shiftable(self, giver: int, taker: int) -> Iterator[K]:
        """The partitions whose replica may go from one broker to another; followers before leaders."""
        leaders = []
        for key in self.keys_on[giver]:
            replicas = self.lists[key]
            if taker in replicas or not self._keeps_racks(key, giver, taker):
                continue
            if replicas[0] == giver:
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
        reached_from = {source: source}
        queue = deque([source])
        while queue:
            giver = queue.popleft()
            rest = (broker for broker in self.load if broker not in reached_from)
            for taker in sorted(rest, key=lambda broker: (self.load[broker], broker)):
                if next(self._shiftable(giver, taker), None) is None:
                    continue
                reached_from[taker] = giver
                if taker in lower:
                    return path_to(reached_from, taker)
                queue.append(taker)
        return []

    def _keeps_racks(self, key: K, giver: int, taker: int) -> bool:
        if not self.racks or self.racks[giver] == self.racks[taker]:
            return True
        kept = [taker if broker == giver else broker for broker in self.lists[key]]
        return rack_count(kept, self.racks) >= rack_count(self.lists[key], self.racks)

    def _shares_rack(self, key: K, broker: int) -> bool:
        return any(
            other != broker and self.racks.get(other) == self.racks.get(broker) for other in self.lists[key]
        )

    def _gain(self, key: K, broker: int) -> None:
        if broker in self.keys_on:
            self.keys_on[broker][key] = None
            self.load[broker] += 1

    def _lose(self, key: K, broker: int) -> None:
        if broker in self.keys_on:
            del self.keys_on[broker][key]
            self.load[broker] -= 1


def path_to(reached_from: Mapping[int, int], end: int) -> list[int]:
    """The way to `end` in a search that noted from where each broker was reached, its start from itself."""
    path = [end]
    while reached_from[path[-1]] != path[-1]:
        path.append(reached_from[path[-1]])
    return path[::-1]
