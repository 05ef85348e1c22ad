"""The columns of a snapshot's znodes, apart from what reads them: whoever writes such rows needs no numpy."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

TYPES: Final = {
    "path": pa.string(),
    "data": pa.binary(),
    "acl": pa.string(),
    "czxid": pa.int64(),
    "mzxid": pa.int64(),
    "ctime": pa.int64(),
    "mtime": pa.int64(),
    "version": pa.int32(),
    "cversion": pa.int32(),
    "aversion": pa.int32(),
    "ephemeral_owner": pa.int64(),
    "data_length": pa.int32(),
    "num_children": pa.int32(),
    "pzxid": pa.int64(),
}
SCHEMA: Final = pa.schema(TYPES)
