"""Where Kafka puts the replicas of new partitions (kafka.admin.AdminUtils.assignReplicasToBrokers).

Pure arithmetic: the random start and shift that Kafka draws are arguments here, so that a caller owns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

_USUAL: Final = 3


def usual_replication(brokers: int) -> int:
    """How many replicas a topic gets where nobody says how many: three, or as many as there are brokers."""
    return max(1, min(_USUAL, brokers))


def place(
    brokers: Sequence[int],
    *,
    partitions: int,
    replication: int,
    start: int = 0,
    shift: int = 0,
    first_partition: int = 0,
) -> dict[int, tuple[int, ...]]:
    """Replicas by partition id, blind to racks. `brokers` sorted by id, `start` and `shift` in [0, brokers).

    Raises ValueError for a replication factor that is not between 1 and the number of brokers.
    """
    ring = _Ring(tuple(brokers), replication=replication, start=start, shift=shift)
    return ring.walk(first_partition, partitions)


def place_in_racks(
    racks: Mapping[int, str],
    *,
    partitions: int,
    replication: int,
    start: int = 0,
    shift: int = 0,
    first_partition: int = 0,
) -> dict[int, tuple[int, ...]]:
    """Replicas by partition id, spread over racks; `racks` names the rack of every broker (0.10.0+)."""
    ring = _RackRing(racks, replication=replication, start=start, shift=shift)
    return ring.walk(first_partition, partitions)


def alternate_racks(racks: Mapping[int, str]) -> tuple[int, ...]:
    """The brokers in turns: racks by name, each time the lowest id left (getRackAlternatedBrokerList)."""
    waiting: dict[str, list[int]] = {rack: [] for rack in sorted(set(racks.values()))}
    for broker in sorted(racks):
        waiting[racks[broker]].append(broker)
    turns: list[int] = []
    while any(waiting.values()):
        turns.extend(brokers.pop(0) for brokers in waiting.values() if brokers)
    return tuple(turns)


class _Ring:
    """The brokers as a ring; the first replica walks it, the others follow at a shift that grows each lap."""

    def __init__(self, brokers: tuple[int, ...], *, replication: int, start: int, shift: int) -> None:
        if not 1 <= replication <= len(brokers):
            message = f"a replication factor of {replication} does not fit {len(brokers)} brokers"
            raise ValueError(message)
        self.brokers = brokers
        self.replication = replication
        self.start = start
        self.shift = shift

    def walk(self, first_partition: int, count: int) -> dict[int, tuple[int, ...]]:
        size, shift = len(self.brokers), self.shift
        placed: dict[int, tuple[int, ...]] = {}
        for partition in range(first_partition, first_partition + count):
            if partition > 0 and partition % size == 0:  # a new lap, counted from where the walk began
                shift += 1
            placed[partition] = self.followers((partition + self.start) % size, shift)
        return placed

    def followers(self, first: int, shift: int) -> tuple[int, ...]:
        others = (self.at(first, shift, j) for j in range(self.replication - 1))
        return (self.brokers[first], *others)

    def at(self, first: int, shift: int, step: int) -> int:
        """The broker that `step` names as seen from `first` (AdminUtils.replicaIndex)."""
        size = len(self.brokers)
        return self.brokers[(first + 1 + (shift + step) % (size - 1)) % size]


class _RackRing(_Ring):
    """The ring of rack-alternated brokers: a candidate is passed over while its rack or itself is used."""

    def __init__(self, racks: Mapping[int, str], *, replication: int, start: int, shift: int) -> None:
        super().__init__(alternate_racks(racks), replication=replication, start=start, shift=shift)
        self.racks = racks
        self.rack_count = len(set(racks.values()))

    def followers(self, first: int, shift: int) -> tuple[int, ...]:
        chosen = [self.brokers[first]]
        step = 0
        while len(chosen) < self.replication:
            candidate = self.at(first, shift * self.rack_count, step)
            step += 1
            if self.fits(candidate, chosen):
                chosen.append(candidate)
        return tuple(chosen)

    def fits(self, candidate: int, chosen: Sequence[int]) -> bool:
        used = {self.racks[broker] for broker in chosen}
        rack_free = self.racks[candidate] not in used or len(used) == self.rack_count
        return rack_free and candidate not in chosen
