"""The parser of each kind of znode, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from zkdash.kafka.documents.document import quote, unparsable
from zkdash.kafka.layouts import (
    acls,
    admin,
    brokers,
    cluster,
    config,
    consumers,
    controller,
    features,
    migration,
    notifications,
    partitions,
    producer_ids,
    tokens,
    topics,
)
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
    Kind.CLIENT_CONFIG: config.parse_entity_config,
    Kind.USER_CONFIG: config.parse_entity_config,
    Kind.USER_CLIENT_CONFIG: config.parse_entity_config,
    Kind.BROKER_CONFIG: config.parse_entity_config,
    Kind.IP_CONFIG: config.parse_entity_config,
    Kind.CONFIG_CHANGE: notifications.parse_config_change,
    Kind.ACL: acls.parse_acl,
    Kind.PREFIXED_ACL: acls.parse_acl,
    Kind.ACL_CHANGE: notifications.parse_acl_change,
    Kind.EXTENDED_ACL_CHANGE: notifications.parse_extended_acl_change,
    Kind.TOKEN: tokens.parse_token,
    Kind.TOKEN_CHANGE: notifications.parse_token_change,
    Kind.FEATURE: features.parse_features,
    Kind.MIGRATION: migration.parse_migration,
    Kind.PRODUCER_ID_BLOCK: producer_ids.parse_producer_ids,
    Kind.ISR_CHANGE: notifications.parse_isr_change,
    Kind.LOG_DIR_EVENT: notifications.parse_log_dir_event,
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
