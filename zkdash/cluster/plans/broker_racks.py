"""The racks of the registered brokers, for placing replicas."""

from __future__ import annotations

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.values import Broker


def racks(state: ClusterState) -> dict[int, str]:
    """The rack of every live broker; empty where not each has one, because then racks are not respected."""
    racks_by_id = {
        number: seen.value.rack
        for number, seen in state.brokers.items()
        if isinstance(seen.value, Broker) and seen.value.rack
    }
    return racks_by_id if len(racks_by_id) == len(state.brokers) else {}
