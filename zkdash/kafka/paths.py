"""Where Kafka keeps what in ZooKeeper: every path read, and what kind of znode lives there.

Paths are relative to the cluster's chroot, which itself is "/". The layout is that of Kafka's own
kafka.zk.ZkData (0.8 to 3.9) and kafka.utils.ZkUtils (0.7).
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

BROKER_IDS: Final = "/brokers/ids"
TOPICS: Final = "/brokers/topics"
CONSUMERS: Final = "/consumers"
CONTROLLER: Final = "/controller"
CONTROLLER_EPOCH: Final = "/controller_epoch"
CLUSTER_ID: Final = "/cluster/id"
REASSIGNMENT: Final = "/admin/reassign_partitions"
ELECTION: Final = "/admin/preferred_replica_election"
DELETIONS: Final = "/admin/delete_topics"
TOPIC_CONFIGS: Final = "/config/topics"
BROKER_CONFIGS: Final = "/config/brokers"
CONFIG_CHANGES: Final = "/config/changes"
FEATURE: Final = "/feature"
MIGRATION: Final = "/migration"
PRODUCER_IDS: Final = "/latest_producer_id_block"
ISR_CHANGES: Final = "/isr_change_notification"
LOG_DIR_EVENTS: Final = "/log_dir_event_notification"
ACLS: Final = "/kafka-acl"
EXTENDED_ACLS: Final = "/kafka-acl-extended"
ACL_CHANGES: Final = "/kafka-acl-changes"
EXTENDED_ACL_CHANGES: Final = "/kafka-acl-extended-changes"
TOKENS: Final = "/delegation_token/tokens"

DEFAULT: Final = "<default>"  # names what holds for every client, user, broker, address without its own

# What a mirror of a cluster holds. Each is watched whether it exists or not.
ROOTS: Final = (
    "/brokers",
    "/consumers",
    "/controller",
    "/controller_epoch",
    "/admin",
    "/config",
    "/cluster",
    ISR_CHANGES,
    LOG_DIR_EVENTS,
    FEATURE,
    MIGRATION,
    PRODUCER_IDS,
    ACLS,
    EXTENDED_ACLS,
    ACL_CHANGES,
    EXTENDED_ACL_CHANGES,
    "/delegation_token",
)


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


_NOWHERE: Final = Place(Kind.OTHER)
_SINGLE: Final = {
    CONTROLLER: Place(Kind.CONTROLLER),
    CONTROLLER_EPOCH: Place(Kind.CONTROLLER_EPOCH),
    CLUSTER_ID: Place(Kind.CLUSTER_ID),
    REASSIGNMENT: Place(Kind.REASSIGNMENT),
    ELECTION: Place(Kind.ELECTION),
    "/brokers/seqid": Place(Kind.SEQID),
    FEATURE: Place(Kind.FEATURE),
    MIGRATION: Place(Kind.MIGRATION),
    PRODUCER_IDS: Place(Kind.PRODUCER_ID_BLOCK),
}
# By directory, what its children are.
_CHILDREN: Final = {
    DELETIONS: Kind.DELETION,
    TOPIC_CONFIGS: Kind.TOPIC_CONFIG,
    "/config/users": Kind.USER_CONFIG,
    BROKER_CONFIGS: Kind.BROKER_CONFIG,
    "/config/ips": Kind.IP_CONFIG,
    CONFIG_CHANGES: Kind.CONFIG_CHANGE,
    ACL_CHANGES: Kind.ACL_CHANGE,
    EXTENDED_ACL_CHANGES: Kind.EXTENDED_ACL_CHANGE,
    TOKENS: Kind.TOKEN,
    "/delegation_token/token_changes": Kind.TOKEN_CHANGE,
    ISR_CHANGES: Kind.ISR_CHANGE,
    LOG_DIR_EVENTS: Kind.LOG_DIR_EVENT,
}
_STATE: Final = Kind.STATE
_PARTITION: Final = Kind.PARTITION
# An id's text to one shared text: most ids are small, and a lookup is cheaper than looking at digits.
_SMALL: Final = {str(number): str(number) for number in range(1024)}
_new = tuple.__new__


def locate(path: str) -> Place:
    """What lives at a path. Never fails: what is not known is OTHER.

    The first load of a large cluster asks this half a million times, most often for a partition and
    its state, hence the order and the bare tuples.
    """
    pieces = path.split("/")
    if len(pieces) == 7 and pieces[6] == "state" and pieces[4] == "partitions" and pieces[2] == "topics":
        key = _SMALL.get(pieces[5]) or _id(pieces[5])
        if key and pieces[1] == "brokers":
            return _new(Place, (_STATE, pieces[3], key, ""))
        return _NOWHERE
    if len(pieces) == 6 and pieces[4] == "partitions" and pieces[2] == "topics" and pieces[1] == "brokers":
        small = _SMALL.get(pieces[5])
        if small:
            return _new(Place, (_PARTITION, pieces[3], small, ""))
    below = _ROOMS.get(pieces[1]) if len(pieces) > 1 else None
    return (below(pieces) if below else None) or _SINGLE.get(path) or _child(path)


def is_id(text: str) -> bool:
    """Whether a name is a broker or partition id as Kafka writes it: 0 to 2147483647, plain digits."""
    return bool(_SMALL.get(text) or _id(text))


def topic(name: str) -> str:
    return f"{TOPICS}/{name}"


def partitions(name: str) -> str:
    return f"{TOPICS}/{name}/partitions"


def state(name: str, partition: int) -> str:
    return f"{TOPICS}/{name}/partitions/{partition}/state"


def partition_count(name: str, broker: int) -> str:
    """0.7: how many partitions of a topic a broker holds."""
    return f"{TOPICS}/{name}/{broker}"


def broker(number: int) -> str:
    return f"{BROKER_IDS}/{number}"


def topic_config(name: str) -> str:
    return f"{TOPIC_CONFIGS}/{name}"


def deletion(name: str) -> str:
    return f"{DELETIONS}/{name}"


def group(name: str) -> str:
    return f"{CONSUMERS}/{name}"


def member(name: str, consumer: str) -> str:
    return f"{CONSUMERS}/{name}/ids/{consumer}"


def owner(name: str, of: str, part: str) -> str:
    """`of` is the topic, `part` the partition ("0", or 0.7's "1-0")."""
    return f"{CONSUMERS}/{name}/owners/{of}/{part}"


def offset(name: str, of: str, part: str) -> str:
    """`of` is the topic, `part` the partition ("0", or 0.7's "1-0")."""
    return f"{CONSUMERS}/{name}/offsets/{of}/{part}"


def _id(text: str) -> str:
    """The text itself when it is an id, else an empty one."""
    plain = text.isascii() and text.isdigit() and len(text) <= 10 and (text[0] != "0" or text == "0")
    return text if plain and int(text) < 1 << 31 else ""


def _brokers(pieces: list[str]) -> Place | None:
    if pieces[2:3] == ["topics"]:
        return _below_topics(pieces)
    if len(pieces) == 4 and pieces[2] == "ids":
        return (
            _new(Place, (Kind.BROKER, pieces[3], "", ""))
            if is_id(pieces[3])
            else _misnamed("broker", pieces[3])
        )
    return None


def _below_topics(pieces: list[str]) -> Place | None:
    match pieces:
        case [_, _, _, name, "partitions", number]:
            if not is_id(number):
                return _misnamed("partition", number)
            return _new(Place, (Kind.PARTITION, name, number, ""))
        case [_, _, _, name]:
            return _new(Place, (Kind.TOPIC, name, "", ""))
        case [_, _, _, name, "partitions"]:
            return _new(Place, (Kind.PARTITIONS, name, "", ""))
        case [_, _, _, name, number] if is_id(number):
            return _new(Place, (Kind.PARTITION_COUNT, name, number, ""))
    return None


def _consumers(pieces: list[str]) -> Place | None:
    match pieces:
        case [_, _, name, "offsets", of, part]:
            return _new(Place, (Kind.OFFSET, name, of, part))
        case [_, _, name, "owners", of, part]:
            return _new(Place, (Kind.OWNER, name, of, part))
        case [_, _, name, "ids", consumer]:
            return _new(Place, (Kind.MEMBER, name, consumer, ""))
        case [_, _, name]:
            return _new(Place, (Kind.GROUP, name, "", ""))
    return None


def _config(pieces: list[str]) -> Place | None:
    match pieces:
        case [_, _, "clients", *client] if client:
            return _new(Place, (Kind.CLIENT_CONFIG, "/".join(client), "", ""))
        case [_, _, "users", user, "clients", client]:
            return _new(Place, (Kind.USER_CLIENT_CONFIG, user, client, ""))
    return None


def _acl(pieces: list[str]) -> Place | None:
    match pieces:
        case [_, "kafka-acl", of, *name] if name:
            return _new(Place, (Kind.ACL, of, "/".join(name), ""))
        case [_, "kafka-acl-extended", "prefixed", of, *name] if name:
            return _new(Place, (Kind.PREFIXED_ACL, of, "/".join(name), ""))
    return None


def _child(path: str) -> Place:
    """What stands in a directory whose children are all alike."""
    parent, _, name = path.rpartition("/")
    kind = _CHILDREN.get(parent)
    return _NOWHERE if kind is None else _new(Place, (kind, name, "", ""))


def _misnamed(what: str, name: str) -> Place:
    return _new(Place, (Kind.MISNAMED, what, name, ""))


_ROOMS: Final = {
    "brokers": _brokers,
    "consumers": _consumers,
    "config": _config,
    "kafka-acl": _acl,
    "kafka-acl-extended": _acl,
}
