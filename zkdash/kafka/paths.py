"""Where Kafka keeps what in ZooKeeper: every path read, and what kind of znode lives there.

Paths are relative to the cluster's chroot, which itself is "/". The layout is that of Kafka's own
kafka.zk.ZkData (0.8 to 3.9) and kafka.utils.ZkUtils (0.7).
"""

from __future__ import annotations

from typing import Final

from zkdash.kafka.znode_kinds import BY_KIND, ZNODE_KINDS, Kind, Place


def _at(kind: Kind) -> str:
    """Where a singleton stands, else the directory that holds all of a kind."""
    return BY_KIND[kind].path.partition("/<")[0]


BROKER_IDS: Final = _at(Kind.BROKER)
TOPICS: Final = _at(Kind.TOPIC)
CONSUMERS: Final = _at(Kind.GROUP)
CONTROLLER: Final = _at(Kind.CONTROLLER)
CONTROLLER_EPOCH: Final = _at(Kind.CONTROLLER_EPOCH)
CLUSTER_ID: Final = _at(Kind.CLUSTER_ID)
REASSIGNMENT: Final = _at(Kind.REASSIGNMENT)
ELECTION: Final = _at(Kind.ELECTION)
DELETIONS: Final = _at(Kind.DELETION)
TOPIC_CONFIGS: Final = _at(Kind.TOPIC_CONFIG)
BROKER_CONFIGS: Final = _at(Kind.BROKER_CONFIG)
CONFIG_CHANGES: Final = _at(Kind.CONFIG_CHANGE)
FEATURE: Final = _at(Kind.FEATURE)
MIGRATION: Final = _at(Kind.MIGRATION)
PRODUCER_IDS: Final = _at(Kind.PRODUCER_ID_BLOCK)
ISR_CHANGES: Final = _at(Kind.ISR_CHANGE)
LOG_DIR_EVENTS: Final = _at(Kind.LOG_DIR_EVENT)
ACLS: Final = _at(Kind.ACL)
EXTENDED_ACLS: Final = "/kafka-acl-extended"
ACL_CHANGES: Final = _at(Kind.ACL_CHANGE)
EXTENDED_ACL_CHANGES: Final = _at(Kind.EXTENDED_ACL_CHANGE)
TOKENS: Final = _at(Kind.TOKEN)

DEFAULT: Final = "<default>"  # names what holds for every client, user, broker, address without its own

# What a mirror of a cluster holds. Each is watched whether it exists or not.
ROOTS: Final = tuple(dict.fromkeys("/" + row.path.split("/")[1] for row in ZNODE_KINDS))

_NOWHERE: Final = Place(Kind.OTHER)
_SINGLE: Final = {row.path: Place(row.kind) for row in ZNODE_KINDS if row.is_singleton}
# By directory, what its children are.
_CHILDREN: Final = {
    _at(row.kind): row.kind for row in ZNODE_KINDS if row.path.count("<") == 1 and row.path.endswith(">")
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
