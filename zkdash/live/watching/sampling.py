"""What a watcher asks of the brokers: it tells a sampler who leads what, and takes its samples over.

The sampler has a thread of its own; what it found comes to the snapshot at the watcher's next tick.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

from zkdash.broker.ledger import Moved
from zkdash.broker.sampler import Sampler
from zkdash.broker.samples import Samples
from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.values import Broker, PartitionState


class Sampling:
    """The sampler of one cluster; `asks` is False where the configuration keeps zkdash off the brokers."""

    def __init__(self, cluster: str, *, asks: bool) -> None:
        self._moved: deque[Moved] = deque()
        self._sampler = Sampler(cluster, on_change=self._moved.append) if asks else None
        self._told = ClusterState()
        self._registered: Mapping[int, Broker] = {}

    def start(self) -> None:
        if self._sampler is not None:
            self._sampler.start()

    def stop(self) -> None:
        if self._sampler is not None:
            self._sampler.stop()

    @property
    def samples(self) -> Samples:
        """What is known now."""
        return _NOT_ASKED if self._sampler is None else self._sampler.samples

    def tell(self, state: ClusterState) -> None:
        """Tell who is registered and who leads what: pointers, whatever the size of the cluster."""
        if self._sampler is None:
            return
        if state.brokers is not self._told.brokers:
            # Another mapping only when a registration changed: the sampler compares identities.
            self._registered = {
                number: seen.value for number, seen in state.brokers.items() if isinstance(seen.value, Broker)
            }
        self._told = state
        self._sampler.update(self._registered, lambda topic: _leaders(state, topic), state.topics)
        self._sampler.keep(state.consumers, {})

    def want(self, topics: Collection[str], groups: Mapping[str, Collection[str]]) -> None:
        """Somebody looks at these now; from any thread."""
        if self._sampler is not None:
            self._sampler.want(topics, groups)

    def want_listing(self) -> None:
        """Somebody looks at the groups that the brokers know; from any thread."""
        if self._sampler is not None:
            self._sampler.want_listing()

    def moved(self) -> ChangedAreas:
        """What was sampled anew since the last call."""
        touched = ChangedAreas()
        while self._moved:
            moved = self._moved.popleft()
            touched |= ChangedAreas(frozenset({"samples"}), moved.topics, moved.groups)
        return touched


_NOT_ASKED = Samples(otherwise="zkdash is told not to ask brokers: ask_brokers is false for this cluster")


def _leaders(state: ClusterState, topic: str) -> Mapping[int, int | None] | None:
    """Leader by partition of a topic; None for a topic that does not exist."""
    found = state.topics.get(topic)
    if found is None:
        return None
    return {
        partition.id: partition.state.leader if isinstance(partition.state, PartitionState) else None
        for partition in found.partitions
    }
