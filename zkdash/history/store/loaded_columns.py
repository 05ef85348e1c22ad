"""The tables of what ZooKeeper's and Kafka's files and the recorder tell: columns and meaning.

Those of `changes` are declared in `cluster.changes.row`. The schemas are in `schemas`, since pages and
documents tell of tables without Arrow.
"""

from __future__ import annotations

from typing import Final

from zkdash.cluster.changes import row
from zkdash.history.store.derived_columns import Column

_LONG, _INT, _TEXT, _BOOL, _BYTES = "int64", "int32", "string", "bool", "binary"
MEMBERS: Final = "list of members"

_OF_RECORD: Final = (
    Column("log_partition", _INT, "the partition of __consumer_offsets that holds the record"),
    Column("log_offset", _LONG, "the record's offset there"),
)

# What a row of each table is.
MEANINGS: Final[dict[str, str]] = {
    "changes": "A change to the tree or to a session, as ZooKeeper's logs or a watcher tell it.",
    "problems": "What could not be read of a file.",
    "coverage": "Transactions that were all read; what changed something is in changes.",
    "znodes_checkpoint": (
        "A znode of a whole tree: as a snapshot of ZooKeeper's holds it, or as the recorder saw what is "
        "below Kafka's znodes. Between zxid and zxid_upto the tree is fuzzy: apply what changed to it."
    ),
    "watched": "A time that the recorder saw without a gap.",
    "kafka_commits": "An offset that a group committed to Kafka, as a record of __consumer_offsets tells it.",
    "kafka_groups": "A group after a rebalance, as its coordinator wrote it down in Kafka.",
}

COLUMNS: Final[dict[str, tuple[Column, ...]]] = {
    "changes": tuple(Column(field.name, field.kind, field.meaning) for field in row.FIELDS),
    "problems": (
        Column("file", _TEXT, "the file's name"),
        Column("offset", _LONG, "bytes from its start"),
        Column("reason", _TEXT, "why it could not be read, a sentence"),
        Column("torn", _BOOL, "it only ends too early"),
    ),
    "coverage": (
        Column("zxid_from", _LONG, "the first transaction"),
        Column("zxid_upto", _LONG, "the last one"),
    ),
    "znodes_checkpoint": (
        Column("path", _TEXT, "under the cluster's chroot, which is / itself"),
        Column("data", _BYTES, "secrets replaced; null for null"),
        Column("acl", _TEXT, "scheme:id:perms joined by a comma, hashes hidden"),
        *(
            Column(name, kind, "as Stat has it")
            for name, kind in (
                ("czxid", _LONG), ("mzxid", _LONG), ("ctime", _LONG), ("mtime", _LONG), ("version", _INT),
                ("cversion", _INT), ("aversion", _INT), ("ephemeral_owner", _LONG), ("data_length", _INT),
                ("num_children", _INT), ("pzxid", _LONG),
            )
        ),
        Column("zxid", _LONG, "all up to this transaction is in it"),
        Column("zxid_upto", _LONG, "nothing after this one is; null where nobody can tell"),
    ),
    "watched": (
        Column("zxid_from", _LONG, "every transaction from this one"),
        Column("zxid_upto", _LONG, "to this one was seen"),
        Column("from_ms", _LONG, "when that began, by the recorder's clock"),
        Column("to_ms", _LONG, "when it ended, by the recorder's clock"),
        Column("why", _TEXT, "what began a new interval; null where it follows the one before"),
        Column("is_caught_up", _BOOL, "what differed after the gap is in changes"),
    ),
    "kafka_commits": (
        Column("group", _TEXT, "the consumer group"),
        Column("topic", _TEXT, "the topic"),
        Column("part", _TEXT, "the partition"),
        Column("offset", _LONG, "what was committed"),
        Column("leader_epoch", _INT, "of the last record that was read; -1 where the record tells none"),
        Column("metadata", _TEXT, "what the client committed along"),
        Column("commit_ms", _LONG, "when, by the coordinator's clock"),
        Column("expire_ms", _LONG, "when it is to be forgotten; null where the broker's setting says so"),
        Column("deleted", _BOOL, "the group's offset is gone since"),
        *_OF_RECORD,
    ),
    "kafka_groups": (
        Column("group", _TEXT, "the consumer group"),
        Column("generation", _INT, "how often it rebalanced"),
        Column("protocol_type", _TEXT, "consumer, of what Kafka's own clients read with"),
        Column("protocol", _TEXT, "how partitions are assigned"),
        Column("leader", _TEXT, "the member that assigned them"),
        Column("state_ms", _LONG, "when its state changed; null before Kafka 2.1"),
        Column("time", _LONG, "the record's own time"),
        Column(
            "members",
            MEMBERS,
            "id, instance_id, client_id, client_host, session_timeout_ms, the topics that it asked for and "
            "the partitions that it was given, as topic-partition",
        ),
        Column("deleted", _BOOL, "the group is gone since"),
        *_OF_RECORD,
    ),
}  # fmt: skip
