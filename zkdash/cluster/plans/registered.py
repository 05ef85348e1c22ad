"""What the registered brokers say that placement must know."""

from __future__ import annotations

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.values import Broker


def racks(state: ClusterState) -> dict[int, str]:
    """The rack of every live broker; empty where not each has one, because then racks are not respected."""
    known = {
        number: seen.value.rack
        for number, seen in state.brokers.items()
        if isinstance(seen.value, Broker) and seen.value.rack
    }
    return known if len(known) == len(state.brokers) else {}
