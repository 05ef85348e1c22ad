"""The Arrow schemas of the tables that hold what ZooKeeper's files and the recorder tell.

changes: `cluster.changes.row`. problems: what could not be read of which file. coverage: which transactions
were read, so that a gap is known as one. znodes_checkpoint: whole trees as snapshots hold them, and all that
is below Kafka's znodes as the recorder saw it. watched: when the recorder watched.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from zkdash.cluster.changes import row
from zkdash.formats import snapshot_arrow

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
    [*snapshot_arrow.SCHEMA, pa.field("zxid", pa.int64()), pa.field("zxid_upto", pa.int64())]
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

TABLES: Final = {
    "changes": CHANGES,
    "problems": PROBLEMS,
    "coverage": COVERAGE,
    "znodes_checkpoint": CHECKPOINTS,
    "watched": WATCHED,
}
