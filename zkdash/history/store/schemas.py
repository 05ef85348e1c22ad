"""The Arrow schemas of the tables that hold what ZooKeeper's files and the recorder tell, by the columns that
`loaded_columns` declares, and of those that only jobs read.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from zkdash.history.store.loaded_columns import COLUMNS, MEMBERS

_KINDS: Final = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "string": pa.string(),
    "binary": pa.binary(),
    "bool": pa.bool_(),
    MEMBERS: pa.list_(
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
}


def _schema(table: str) -> pa.Schema:
    return pa.schema([pa.field(column.name, _KINDS[column.kind]) for column in COLUMNS[table]])


CHANGES: Final = _schema("changes")
PROBLEMS: Final = _schema("problems")
COVERAGE: Final = _schema("coverage")
CHECKPOINTS: Final = _schema("znodes_checkpoint")
WATCHED: Final = _schema("watched")
KAFKA_COMMITS: Final = _schema("kafka_commits")
KAFKA_GROUPS: Final = _schema("kafka_groups")

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
