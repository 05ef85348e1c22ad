"""What brokers hold of each topic. Cost: the topics that they hold."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import msgspec

from zkdash.cluster.model import summary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.kafka.values import PartitionState


class Share(msgspec.Struct, frozen=True):
    """Of one topic of 0.8+: the replicas that are assigned to the brokers, and how many of them `lead` or are
    `out` of the ISR; what has no state that can be read is neither. `of` counts the topic's replicas on all
    brokers."""

    topic: str
    replicas: int
    lead: int
    out: int
    of: int


def by_topic(state: ClusterState, brokers: AbstractSet[int]) -> tuple[Share, ...]:
    """The topics with a replica on one of the brokers, those with the most first."""
    shares = (
        _share(topic, brokers)
        for name, topic in state.topics.items()
        if not brokers.isdisjoint(state.summaries[name].brokers)
    )
    topic_shares = [share for share in shares if share.replicas]
    return tuple(sorted(topic_shares, key=lambda share: (-share.replicas, share.topic)))


def _share(topic: Topic, brokers: AbstractSet[int]) -> Share:
    replicas = lead = out = every = 0
    for partition in summary.assigned(topic):
        assigned = set(partition.replicas or ())
        every += len(assigned)
        mine = assigned & brokers
        replicas += len(mine)
        if isinstance(partition.state, PartitionState):
            lead += partition.state.leader in mine
            out += len(mine.difference(partition.state.isr))
    return Share(topic.name, replicas, lead, out, every)
