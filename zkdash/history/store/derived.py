"""The Arrow schemas of the derived tables, by the columns that `derived_columns` declares."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from zkdash.history.store.derived_columns import COLUMNS

_KINDS: Final = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "float64": pa.float64(),
    "string": pa.string(),
    "bool": pa.bool_(),
    "list of int32": pa.list_(pa.int32()),
    "list of string": pa.list_(pa.string()),
}

TABLES: Final = {
    name: pa.schema([(column.name, _KINDS[column.kind]) for column in columns])
    for name, columns in COLUMNS.items()
}

# The day (UTC) of a row, by which files of these tables lie: it is in the names of their directories alone.
DATE: Final = pa.field("date", pa.date32())
DATED: Final = frozenset(TABLES) - {"idle_groups", "log_ends", "log_segments", "replica_logs"}
