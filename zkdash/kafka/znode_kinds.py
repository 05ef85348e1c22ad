"""The kinds of znodes of Kafka, a row each: where one stands, what reads it, what of the state holds it.

The layout is that of Kafka's own kafka.zk.ZkData (0.8 to 3.9) and kafka.utils.ZkUtils (0.7). `paths` tells a
path's kind by these rows, `cluster.reducer` reads by them.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

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

Parser = Callable[[bytes | None], tuple[Any, tuple[str, ...]]]


class Kind(enum.IntEnum):
    """What a znode is. (An IntEnum because its hash is C's: a table by kind costs nothing.)"""

    OTHER = 0  # a directory, or a znode without a typed reading
    MISNAMED = 1  # a child whose name should be a number: `name` says of what, `key` is the name
    BROKER = 2  # name: the broker id
    TOPIC = 3  # name: the topic
    PARTITION_COUNT = 4  # 0.7. name: the topic, key: the broker id
    PARTITIONS = 5  # the directory. name: the topic
    PARTITION = 6  # name: the topic, key: the partition id
    STATE = 7  # name: the topic, key: the partition id
    CONTROLLER = 8
    CONTROLLER_EPOCH = 9
    CLUSTER_ID = 10
    REASSIGNMENT = 11
    ELECTION = 12
    DELETION = 13  # name: the topic
    TOPIC_CONFIG = 14  # name: the topic
    GROUP = 15  # name: the group
    MEMBER = 16  # name: the group, key: the consumer id
    OWNER = 17  # name: the group, key: the topic, part: the partition ("0", or 0.7's "1-0")
    OFFSET = 18  # as OWNER
    CLIENT_CONFIG = 19  # name: the client id as the path has it, with slashes where 0.9 wrote some
    USER_CONFIG = 20  # name: the user as the path has it
    USER_CLIENT_CONFIG = 21  # name: the user, key: the client id, both as the path has them
    BROKER_CONFIG = 22  # name: the broker id or DEFAULT, or whatever else stands there
    IP_CONFIG = 23  # name: the address or DEFAULT
    CONFIG_CHANGE = 24  # name: of the notification, as of all that follow
    ACL = 25  # name: the type of the resource, key: its name
    PREFIXED_ACL = 26  # as ACL, key: what the name begins with
    ACL_CHANGE = 27
    EXTENDED_ACL_CHANGE = 28
    TOKEN = 29  # name: the token's id
    TOKEN_CHANGE = 30
    FEATURE = 31
    MIGRATION = 32
    PRODUCER_ID_BLOCK = 33
    SEQID = 34
    ISR_CHANGE = 35
    LOG_DIR_EVENT = 36


class Place(NamedTuple):
    """A path, understood. The id of a live broker or of a partition in `name` or `key` is a canonical decimal
    number that fits an int32, so that int() of it is safe and no two names mean the same id."""

    kind: Kind
    name: str = ""
    key: str = ""
    part: str = ""


class ZnodeKind(NamedTuple):
    """One kind of znode.

    `path` has `<word>` where a name stands; a path without one is a singleton's. `parse` reads the data, None
    where there is nothing to read. `area` names the pages that show it, as `cluster.model.changed_areas` has
    them. `field` is the one of `cluster.model.state.ClusterState` that holds it as it was read: alone for a
    singleton, else by name; "" where more than this znode makes what the state holds (a topic, a group).
    What does not parse is critical (check D30) of ids, topics, states and consumer ids.
    """

    kind: Kind
    path: str
    parse: Parser | None
    area: str
    field: str = ""
    critical: bool = False

    @property
    def is_singleton(self) -> bool:
        return "<" not in self.path


_RECORD = config.parse_entity_config
# The order is that in which a mirror watches the roots.
ZNODE_KINDS: Final = (
    # A broker is read with its id (`parse`).
    ZnodeKind(Kind.BROKER, "/brokers/ids/<broker>", None, "brokers", critical=True),
    ZnodeKind(Kind.TOPIC, "/brokers/topics/<topic>", topics.parse_assignment, "topics", critical=True),
    ZnodeKind(
        Kind.PARTITION_COUNT,
        "/brokers/topics/<topic>/<broker>",
        topics.parse_partition_count,
        "topics",
        critical=True,
    ),
    ZnodeKind(Kind.PARTITIONS, "/brokers/topics/<topic>/partitions", None, "topics"),
    ZnodeKind(Kind.PARTITION, "/brokers/topics/<topic>/partitions/<partition>", None, "topics"),
    ZnodeKind(
        Kind.STATE,
        "/brokers/topics/<topic>/partitions/<partition>/state",
        partitions.parse_state,
        "topics",
        critical=True,
    ),
    ZnodeKind(Kind.SEQID, "/brokers/seqid", None, "controller", "seqid"),
    ZnodeKind(Kind.GROUP, "/consumers/<group>", None, "groups"),
    ZnodeKind(
        Kind.MEMBER,
        "/consumers/<group>/ids/<consumer>",
        consumers.parse_registration,
        "groups",
        critical=True,
    ),
    ZnodeKind(Kind.OWNER, "/consumers/<group>/owners/<topic>/<part>", consumers.parse_owner, "groups"),
    ZnodeKind(Kind.OFFSET, "/consumers/<group>/offsets/<topic>/<part>", consumers.parse_offset, "groups"),
    ZnodeKind(Kind.CONTROLLER, "/controller", controller.parse_controller, "controller", "controller"),
    ZnodeKind(
        Kind.CONTROLLER_EPOCH,
        "/controller_epoch",
        controller.parse_controller_epoch,
        "controller",
        "controller_epoch",
    ),
    ZnodeKind(
        Kind.REASSIGNMENT, "/admin/reassign_partitions", admin.parse_reassignment, "admin", "reassignment"
    ),
    ZnodeKind(Kind.ELECTION, "/admin/preferred_replica_election", admin.parse_election, "admin", "election"),
    ZnodeKind(Kind.DELETION, "/admin/delete_topics/<topic>", None, "admin"),
    ZnodeKind(Kind.TOPIC_CONFIG, "/config/topics/<topic>", config.parse_topic_config, "topics"),
    ZnodeKind(Kind.CLIENT_CONFIG, "/config/clients/<client>", _RECORD, "configs", "configs"),
    ZnodeKind(Kind.USER_CONFIG, "/config/users/<user>", _RECORD, "configs", "configs"),
    ZnodeKind(
        Kind.USER_CLIENT_CONFIG, "/config/users/<user>/clients/<client>", _RECORD, "configs", "configs"
    ),
    ZnodeKind(Kind.BROKER_CONFIG, "/config/brokers/<broker>", _RECORD, "configs", "configs"),
    ZnodeKind(Kind.IP_CONFIG, "/config/ips/<address>", _RECORD, "configs", "configs"),
    ZnodeKind(
        Kind.CONFIG_CHANGE,
        "/config/changes/<notification>",
        notifications.parse_config_change,
        "notifications",
        "notifications",
    ),
    ZnodeKind(Kind.CLUSTER_ID, "/cluster/id", cluster.parse_cluster_id, "controller", "cluster_id"),
    ZnodeKind(
        Kind.ISR_CHANGE,
        "/isr_change_notification/<notification>",
        notifications.parse_isr_change,
        "notifications",
        "notifications",
    ),
    ZnodeKind(
        Kind.LOG_DIR_EVENT,
        "/log_dir_event_notification/<notification>",
        notifications.parse_log_dir_event,
        "notifications",
        "notifications",
    ),
    ZnodeKind(Kind.FEATURE, "/feature", features.parse_features, "controller", "feature"),
    ZnodeKind(Kind.MIGRATION, "/migration", migration.parse_migration, "controller", "migration"),
    ZnodeKind(
        Kind.PRODUCER_ID_BLOCK,
        "/latest_producer_id_block",
        producer_ids.parse_producer_ids,
        "controller",
        "producer_ids",
    ),
    ZnodeKind(Kind.ACL, "/kafka-acl/<type>/<resource>", acls.parse_acl, "acls", "acls"),
    ZnodeKind(
        Kind.PREFIXED_ACL, "/kafka-acl-extended/prefixed/<type>/<resource>", acls.parse_acl, "acls", "acls"
    ),
    ZnodeKind(
        Kind.ACL_CHANGE,
        "/kafka-acl-changes/<notification>",
        notifications.parse_acl_change,
        "notifications",
        "notifications",
    ),
    ZnodeKind(
        Kind.EXTENDED_ACL_CHANGE,
        "/kafka-acl-extended-changes/<notification>",
        notifications.parse_extended_acl_change,
        "notifications",
        "notifications",
    ),
    ZnodeKind(Kind.TOKEN, "/delegation_token/tokens/<token>", tokens.parse_token, "acls", "tokens"),
    ZnodeKind(
        Kind.TOKEN_CHANGE,
        "/delegation_token/token_changes/<notification>",
        notifications.parse_token_change,
        "notifications",
        "notifications",
    ),
)
BY_KIND: Final[Mapping[Kind, ZnodeKind]] = {row.kind: row for row in ZNODE_KINDS}


def parse(place: Place, data: bytes | None) -> tuple[Any, tuple[str, ...]]:
    """(value, reasons) of a znode by its place; (None, ()) where the kind has no typed reading."""
    row = BY_KIND.get(place.kind)
    if row and row.parse:
        return row.parse(data)
    if place.kind is Kind.BROKER:
        return brokers.parse_broker(int(place.name), data)
    if place.kind is Kind.MISNAMED:
        return unparsable(f"the name {quote(place.key)} is not a {place.name} id (a number from 0)")
    return None, ()
