"""The brokers that went while this process watched: what each said of itself last, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.values import Broker

# More than any cluster has: brokers that register under ever new ids are not kept for good.
_MOST: Final = 1000


class Departure(msgspec.Struct, frozen=True):
    """`broker` is its last registration that could be read, None where none could; `gone_ms` the epoch ms."""

    broker: Broker | None
    gone_ms: int


Departures = Mapping[int, Departure]


def look(departures: Departures, before: ClusterState, after: ClusterState, now_ms: int) -> Departures:
    """The departures after a revision: who came back is forgotten. The very same where nothing changed."""
    if before.brokers is after.brokers:
        return departures
    kept = {number: departure for number, departure in departures.items() if number not in after.brokers}
    for number, seen in before.brokers.items():
        if number not in after.brokers:
            value = seen.value if isinstance(seen.value, Broker) else None
            kept[number] = Departure(value, now_ms)
    return dict(list(kept.items())[-_MOST:])
