"""What the checks have against a topic."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.cluster import summary
from zkdash.cluster.blame import Cause
from zkdash.cluster.judging.ground import Ground
from zkdash.cluster.topics import Topic
from zkdash.kafka.values import PartitionState
from zkdash.znode import Znode

CHECKS = ("D3", "D17")


def judge(topic: Topic | None, ground: Ground) -> Mapping[str, Cause]:
    """The checks that a topic fails; none where there is no such topic, or it is being deleted."""
    if topic is None or topic.deleting:
        return {}
    stateless = ahead = 0
    epoch = ground.controller_epoch
    for partition in summary.assigned(topic):
        state = partition.state
        if isinstance(state, PartitionState):
            if epoch is not None and state.controller_epoch > epoch:
                ahead += 1
        elif state is None and partition.replicas is not None:
            stateless += 1
    found = {}
    if stateless:
        # The assignment is older than the partition that waits for its state.
        found["D3"] = Cause(stateless, topic.znode.mtime / 1000 if isinstance(topic.znode, Znode) else None)
    if ahead:
        found["D17"] = Cause(ahead)
    return found
