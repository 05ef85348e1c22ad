"""What a watcher has the brokers asked: it tells the sampler the leaders, and takes its samples.

The sampler has a thread of its own; what it found comes to the snapshot at the watcher's next tick.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping

from zkdash.broker.ledger import Moved, Sampled
from zkdash.broker.sampler import Sampler
from zkdash.broker.samples import Samples
from zkdash.cluster.model.brokers.kafka_groups import KafkaGroups
from zkdash.cluster.model.brokers.lags import Lags
from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.groups import GroupSummary
from zkdash.cluster.model.state import ClusterState
from zkdash.configuration.brokers import IN_THE_CLEAR, Security
from zkdash.kafka.values import Broker, PartitionState
from zkdash.live.watching.kafka_listing import KafkaListing
from zkdash.live.watching.lag_book import LagBook


class Sampling:
    """The sampler of one cluster; `asks` is False where the configuration keeps zkdash off the brokers,
    `samples_lag` where it has them asked only about groups that somebody looks at."""

    def __init__(
        self, cluster: str, *, asks: bool, samples_lag: bool = True, security: Security = IN_THE_CLEAR
    ) -> None:
        self._moved: deque[Moved] = deque()
        self._samples_lag = samples_lag
        self._book = LagBook()
        self._listing = KafkaListing()
        self._sampler = (
            Sampler(
                cluster,
                on_change=self._moved.append,
                on_samples=self._on_samples,
                keeps_all=samples_lag,
                security=security,
            )
            if asks
            else None
        )
        self._told = ClusterState()
        self._kafka_groups = self._listing.groups
        self._beside: tuple[KafkaGroups, Mapping[str, GroupSummary]] = self._kafka_groups, {}
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

    @property
    def lags(self) -> Lags:
        """What groups have left to read, as far as it was counted."""
        return _LAGS_NOT_ASKED if self._sampler is None else self._book.lags

    def kafka_groups(self, in_zookeeper: Mapping[str, GroupSummary]) -> KafkaGroups:
        """The groups that brokers list: the same object until there are others. For one thread."""
        memo_key = self._listing.groups, in_zookeeper
        if memo_key[0] is not self._beside[0] or memo_key[1] is not self._beside[1]:
            self._beside = memo_key
            self._kafka_groups = KafkaGroups.of(memo_key[0].groups, in_zookeeper)
        return self._kafka_groups

    def _on_samples(self, sampled: Sampled) -> None:
        """On the sampler's thread."""
        now = time.time()
        self._book.take(sampled, self._told, self.samples, now)
        self._listing.take(sampled, self.samples, now)

    def tell(self, state: ClusterState) -> None:
        """Tell who is registered and who leads what: pointers, whatever the size of the cluster."""
        if self._sampler is None:
            return
        if state.brokers is not self._told.brokers:
            # Another mapping only when a registration changed: the sampler compares identities.
            self._registered = {
                number: entry.value
                for number, entry in state.brokers.items()
                if isinstance(entry.value, Broker)
            }
        self._told = state
        self._sampler.update(self._registered, lambda topic: _leaders(state, topic), state.topics)
        self._sampler.keep(state.consumers, _Used(state.group_summaries) if self._samples_lag else {})

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


class _Used(Mapping[str, Collection[str]]):
    """The topics that each group of ZooKeeper uses, by its name."""

    def __init__(self, summaries: Mapping[str, GroupSummary]) -> None:
        self._summaries = summaries

    def __getitem__(self, name: str) -> Collection[str]:
        return self._summaries[name].topics

    def __contains__(self, name: object) -> bool:
        return name in self._summaries

    def __iter__(self) -> Iterator[str]:
        return iter(self._summaries)

    def __len__(self) -> int:
        return len(self._summaries)


_WHY = "zkdash is told not to ask brokers: ask_brokers is false for this cluster"
_NOT_ASKED = Samples(otherwise=_WHY)
_LAGS_NOT_ASKED = Lags(otherwise=_WHY)


def _leaders(state: ClusterState, topic: str) -> Mapping[int, int | None] | None:
    """Leader by partition of a topic; None for a topic that does not exist."""
    topic_state = state.topics.get(topic)
    if topic_state is None:
        return None
    return {
        partition.id: partition.state.leader if isinstance(partition.state, PartitionState) else None
        for partition in topic_state.partitions
    }
