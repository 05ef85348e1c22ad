"""The Arrow schemas of the tables that hold what ZooKeeper's files and the recorder tell.

changes: `cluster.changes.row`. problems: what could not be read of which file. coverage: which transactions
were read, so that a gap is known as one. znodes_checkpoint: whole trees as snapshots hold them, and all that
is below Kafka's znodes as the recorder saw it. watched: when the recorder watched. kafka_commits and
kafka_groups: what Kafka's own segments tell of groups.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from zkdash.cluster.changes import row
from zkdash.formats import snapshot_schema

_KINDS: Final = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "string": pa.string(),
    "binary": pa.binary(),
    "bool": pa.bool_(),
}

CHANGES: Final = pa.schema([pa.field(field.name, _KINDS[field.kind]) for field in row.FIELDS])

# file: its name. offset: bytes from its start. torn: it only ends too early.
PROBLEMS: Final = pa.schema(
    {"file": pa.string(), "offset": pa.int64(), "reason": pa.string(), "torn": pa.bool_()}
)

# Every transaction from zxid_from to zxid_upto was read, and is in changes where it changed something.
COVERAGE: Final = pa.schema({"zxid_from": pa.int64(), "zxid_upto": pa.int64()})

# zxid: all up to it is in the snapshot. zxid_upto: nothing after it is (null: nobody can tell). In between
# the snapshot is fuzzy: changes after zxid must be applied to it up to zxid_upto at least.
CHECKPOINTS: Final = pa.schema(
    [*snapshot_schema.SCHEMA, pa.field("zxid", pa.int64()), pa.field("zxid_upto", pa.int64())]
)

# The recorder saw every transaction from zxid_from to zxid_upto, between from_ms and to_ms by its clock.
# why: what began a new interval, null where it follows the one before. is_caught_up: what differed after the
# gap is in changes.
WATCHED: Final = pa.schema(
    {
        "zxid_from": pa.int64(),
        "zxid_upto": pa.int64(),
        "from_ms": pa.int64(),
        "to_ms": pa.int64(),
        "why": pa.string(),
        "is_caught_up": pa.bool_(),
    }
)

# Commits kept in Kafka, as the records of __consumer_offsets tell them; log_partition and log_offset say of
# which one. Times are epoch ms, commit_ms that of the coordinator. deleted: the group's offset is gone since.
KAFKA_COMMITS: Final = pa.schema(
    {
        "group": pa.string(),
        "topic": pa.string(),
        "part": pa.string(),
        "offset": pa.int64(),
        "leader_epoch": pa.int32(),
        "metadata": pa.string(),
        "commit_ms": pa.int64(),
        "expire_ms": pa.int64(),
        "deleted": pa.bool_(),
        "log_partition": pa.int32(),
        "log_offset": pa.int64(),
    }
)

# Groups after each rebalance, as their coordinator wrote them down. state_ms is null before Kafka 2.1.
# A member's topics are those that it asked for, its partitions those that it was given, as topic-partition.
KAFKA_GROUPS: Final = pa.schema(
    {
        "group": pa.string(),
        "generation": pa.int32(),
        "protocol_type": pa.string(),
        "protocol": pa.string(),
        "leader": pa.string(),
        "state_ms": pa.int64(),
        "time": pa.int64(),
        "members": pa.list_(
            pa.struct(
                {
                    "id": pa.string(),
                    "instance_id": pa.string(),
                    "client_id": pa.string(),
                    "client_host": pa.string(),
                    "session_timeout_ms": pa.int32(),
                    "topics": pa.list_(pa.string()),
                    "partitions": pa.list_(pa.string()),
                }
            )
        ),
        "deleted": pa.bool_(),
        "log_partition": pa.int32(),
        "log_offset": pa.int64(),
    }
)

# What derivations carry over: the living znodes that mean something, as Stat has them.
HELD: Final = pa.schema(
    {
        "path": pa.string(),
        "data": pa.binary(),
        "czxid": pa.int64(),
        "ctime": pa.int64(),
        "mzxid": pa.int64(),
        "mtime": pa.int64(),
        "ephemeral_owner": pa.int64(),
    }
)

# A file of ZooKeeper's that was read, by what it is called, and how it was then.
FILES_READ: Final = pa.schema({"place": pa.string(), "size": pa.int64(), "modified_ns": pa.int64()})

# Of which transactions the derived tables were made, and of which checkpoint before them (null: none was
# needed, or there was none).
DERIVED_OF: Final = pa.schema({"zxid_from": pa.int64(), "zxid_upto": pa.int64(), "checkpoint": pa.int64()})

TABLES: Final = {
    "changes": CHANGES,
    "problems": PROBLEMS,
    "coverage": COVERAGE,
    "znodes_checkpoint": CHECKPOINTS,
    "watched": WATCHED,
    "kafka_commits": KAFKA_COMMITS,
    "kafka_groups": KAFKA_GROUPS,
}
# Those that only jobs read.
INNER: Final = {"held": HELD, "files_read": FILES_READ, "derived_of": DERIVED_OF}
