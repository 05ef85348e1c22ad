"""The znodes of a snapshot as Arrow record batches.

Schema (`snapshot_schema.SCHEMA`), one row a znode in the file's order: path string, data binary (null where
ZooKeeper holds null), acl string ("scheme:id:perms" joined by ","), and the Stat that a server would show:
czxid, mzxid, pzxid int64, ctime, mtime int64 (epoch ms), version, cversion, aversion int32, ephemeral_owner
int64, data_length int32 (bytes, of the data as stored, hidden or not), num_children int32.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from zkdash.formats import snapshot_reader
from zkdash.formats.problems import Problem
from zkdash.formats.redaction import Redaction
from zkdash.formats.snapshot_reader import OPEN, Layout
from zkdash.formats.snapshot_schema import SCHEMA, TYPES

ROWS: Final = 20_000
# org.apache.zookeeper.data.StatPersisted behind the key of the ACL
_STORED: Final = np.dtype(
    [
        ("acl", ">i8"),
        *((name, ">i8") for name in ("czxid", "mzxid", "ctime", "mtime")),
        *((name, ">i4") for name in ("version", "cversion", "aversion")),
        ("ephemeral_owner", ">i8"),
        ("pzxid", ">i8"),
    ]
)


def batches(data: bytes, redaction: Redaction, *, limit: int = ROWS) -> Iterator[pa.RecordBatch | Problem]:
    """The znodes in batches of `limit`; or one problem, where the file is not a whole snapshot."""
    layout = snapshot_reader.layout(data)
    if isinstance(layout, Problem):
        yield layout
        return
    counted = layout.children()
    windows: Any = np.ndarray((len(layout.data) - _STORED.itemsize + 1,), _STORED, layout.data, strides=(1,))
    for start in range(0, len(layout.paths), limit):
        rows = range(start, min(start + limit, len(layout.paths)))
        yield _batch(layout, rows, windows[layout.stored[rows.start : rows.stop]], counted, redaction)


def _batch(
    layout: Layout, rows: range, stored: Any, counted: dict[str, int], redaction: Redaction
) -> pa.RecordBatch:
    paths = layout.paths[rows.start : rows.stop]
    payload = [layout.payload(row) for row in rows]
    children = np.array([counted.get(path, 0) for path in paths], np.int64)
    made: dict[str, Any] = {name: stored[name] for name in _STORED.names or ()}
    made |= {
        "path": paths,
        "data": [redaction.apply(path, data) for path, data in zip(paths, payload, strict=True)],
        "acl": [layout.acls.get(key, OPEN) for key in stored["acl"].tolist()],
        "cversion": 2 * stored["cversion"].astype(np.int64) - children,
        "data_length": [len(data or b"") for data in payload],
        "num_children": children,
    }
    return pa.RecordBatch.from_arrays([_array(made[n], kind) for n, kind in TYPES.items()], schema=SCHEMA)


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, np.ndarray):
        values = values.astype(kind.to_pandas_dtype())
    return pa.array(values, kind)
