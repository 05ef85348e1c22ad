"""The parser of each kind of znode, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from zkdash.kafka.layouts import admin, brokers, cluster, config, consumers, controller, partitions, topics
from zkdash.kafka.layouts.document import quote, unparsable
from zkdash.kafka.paths import Kind, Place

# A znode that does not parse is critical here (check D30): ids, topics, states and consumer ids.
CRITICAL: Final = frozenset({Kind.BROKER, Kind.TOPIC, Kind.STATE, Kind.MEMBER})

_PARSERS: Final[Mapping[Kind, Callable[[bytes | None], tuple[Any, tuple[str, ...]]]]] = {
    Kind.TOPIC: topics.parse_assignment,
    Kind.PARTITION_COUNT: topics.parse_partition_count,
    Kind.STATE: partitions.parse_state,
    Kind.CONTROLLER: controller.parse_controller,
    Kind.CONTROLLER_EPOCH: controller.parse_controller_epoch,
    Kind.CLUSTER_ID: cluster.parse_cluster_id,
    Kind.REASSIGNMENT: admin.parse_reassignment,
    Kind.ELECTION: admin.parse_election,
    Kind.TOPIC_CONFIG: config.parse_topic_config,
    Kind.MEMBER: consumers.parse_registration,
    Kind.OWNER: consumers.parse_owner,
    Kind.OFFSET: consumers.parse_offset,
}


def parse(place: Place, data: bytes | None) -> tuple[Any, tuple[str, ...]]:
    """(value, reasons) of a znode by its place; (None, ()) where the kind has no typed reading."""
    if parser := _PARSERS.get(place.kind):
        return parser(data)
    if place.kind is Kind.BROKER:
        return brokers.parse_broker(int(place.name), data)
    if place.kind is Kind.MISNAMED:
        return unparsable(f"the name {quote(place.key)} is no {place.name} id (a number from 0 is)")
    return None, ()
