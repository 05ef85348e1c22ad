"""How evenly a topic lies on its brokers, and a broker's share of the cluster beside everybody else's.

The percentages of a topic are those of Yahoo's CMAK (kafka.manager.model.ActorModel.TopicIdentity), except
that a replica counts where it is assigned, in sync or not. Cost: the topic's replicas, the cluster's brokers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import msgspec

from zkdash.cluster.model import summary
from zkdash.cluster.model.brokers.load import NOTHING
from zkdash.cluster.model.known import percent
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.kafka.values import PartitionState


class TopicSkew(msgspec.Struct, frozen=True):
    """One topic of 0.8+: its replicas and leaders by broker.

    `live` counts the registered brokers of the cluster, `holding` those of them with a replica. `preferred`
    counts the partitions that their first replica leads, of `preferable`: with a leader and not moving.
    """

    partitions: int
    live: int
    holding: int
    replicas: Mapping[int, int]
    leaders: Mapping[int, int]
    preferred: int
    preferable: int

    @property
    def even_replicas(self) -> int:
        """The most replicas that a broker has where they are spread evenly over the topic's brokers."""
        return _even(sum(self.replicas.values()), len(self.replicas))

    @property
    def even_leaders(self) -> int:
        """As `even_replicas`, of leaders."""
        return _even(self.partitions, len(self.replicas))

    @property
    def skewed(self) -> tuple[int, ...]:
        """The brokers with more replicas than that."""
        return _above(self.replicas, self.even_replicas)

    @property
    def leader_skewed(self) -> tuple[int, ...]:
        """The brokers that lead more partitions than that."""
        return _above(self.leaders, self.even_leaders)

    @property
    def spread_percent(self) -> float | None:
        """The share of the registered brokers that hold a replica."""
        return percent(self.holding, self.live)

    @property
    def skew_percent(self) -> float | None:
        """The share of the topic's brokers that hold more replicas than the even share."""
        return percent(len(self.skewed), len(self.replicas))

    @property
    def leader_skew_percent(self) -> float | None:
        """The share of the topic's brokers that lead more partitions than the even share."""
        return percent(len(self.leader_skewed), len(self.replicas))

    @property
    def preferred_percent(self) -> float | None:
        """The share of the partitions that their preferred replica leads."""
        return percent(self.preferred, self.preferable)


class Means(msgspec.Struct, frozen=True):
    """What the registered brokers carry in all."""

    brokers: int = 0
    replicas: int = 0
    leaders: int = 0


def of_topic(topic: Topic, live: Collection[int]) -> TopicSkew | None:
    """The skew of a topic; None where no replica is assigned, or nobody can tell (`live`: registered ids)."""
    assigned = [(each, each.replicas) for each in summary.assigned(topic) if each.replicas]
    # At once: to update a Counter for each partition takes several times as long.
    replicas = Counter(broker for _, brokers in assigned for broker in set(brokers))
    leaders: Counter[int] = Counter()
    preferred = preferable = 0
    for partition, brokers in assigned:
        if isinstance(partition.state, PartitionState) and partition.state.leader >= 0:
            leaders[partition.state.leader] += 1
            if partition.id not in topic.moving:
                preferable += 1
                preferred += partition.state.leader == brokers[0]
    if not replicas:
        return None
    holding = sum(broker in live for broker in replicas)
    return TopicSkew(len(assigned), len(live), holding, replicas, leaders, preferred, preferable)


def means(state: ClusterState) -> Means:
    """The sums over the registered brokers, for `over_mean_percent`."""
    loads = [state.loads.get(number, NOTHING) for number in state.brokers]
    return Means(len(loads), sum(load.replicas for load in loads), sum(load.leaders for load in loads))


def over_mean_percent(count: int, total: int, brokers: int) -> int | None:
    """How far a count lies over (or under: negative) the mean of so many brokers; None where that is 0."""
    return round(100 * (count * brokers - total) / total) if total else None


def _even(total: int, brokers: int) -> int:
    return -(-total // brokers)


def _above(counts: Mapping[int, int], even: int) -> tuple[int, ...]:
    return tuple(sorted(broker for broker, count in counts.items() if count > even))
