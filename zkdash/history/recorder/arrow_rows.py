"""What the recorder writes, as Arrow: imported with the first flush, as it takes 50 MB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from zkdash.cluster.changes import row
from zkdash.history.recorder.sighting import Seen
from zkdash.history.store import derived, schemas
from zkdash.znode import Stat, Znode

_NEVER: Final = ("session", "removed", "acl")  # what a watcher never learns
_CHUNK: Final = 20_000
# Arrow's own pools keep the megabytes of a checkpoint for the next one, a day later.
pa.set_memory_pool(pa.system_memory_pool())


def of_changes(changes: Iterable[Seen]) -> pa.Table:
    """Changes as rows of the table `changes`, in their order."""
    places: Counter[int] = Counter()
    columns: dict[str, list[Any]] = {field.name: [] for field in row.FIELDS}
    for each in changes:
        is_create = each.type in row.CREATES
        is_set = each.type in row.SETS
        stat = each.znode.stat if each.znode is not None else None
        owner = stat.ephemeral_owner if stat is not None and is_create else None
        columns["zxid"].append(each.zxid)
        columns["zxid_after"].append(each.after)
        columns["zxid_upto"].append(each.upto)
        columns["op_index"].append(places[each.upto])
        columns["time"].append(each.time)
        columns["type"].append(each.type)
        columns["path"].append(each.path)
        columns["data"].append(each.znode.data if each.znode is not None and (is_create or is_set) else None)
        columns["version"].append(_version(each.type, stat))
        columns["ephemeral"].append(None if owner is None else owner != 0 and each.type == "create")
        columns["ephemeral_owner"].append(owner)
        places[each.upto] += 1
    count = len(columns["path"])
    columns |= {"source": [row.WATCHED] * count, **{name: [None] * count for name in _NEVER}}
    return pa.table({name: columns[name] for name in schemas.CHANGES.names}, schema=schemas.CHANGES)


def _version(kind: str, stat: Stat | None) -> int | None:
    if stat is None:
        return None
    if kind == "setACL":
        return stat.aversion
    return 0 if kind in row.CREATES else stat.version


def of_znodes(tree: dict[str, Znode], zxid: int, upto: int) -> pa.Table:
    """A checkpoint of everything up to `zxid`, with perhaps some of what came up to `upto`."""
    return pa.Table.from_batches(_znodes(tree, zxid, upto), schemas.CHECKPOINTS)


def of_log_ends(rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """Log ends as they were sampled: rows of the table's columns in its order."""
    schema = derived.TABLES["log_ends"]
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def of_watched(rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Intervals in which the recorder watched."""
    return pa.Table.from_pylist(rows, schema=schemas.WATCHED)


def _znodes(tree: dict[str, Znode], zxid: int, upto: int) -> Iterator[pa.RecordBatch]:
    paths = list(tree)
    for start in range(0, len(paths), _CHUNK):
        part = paths[start : start + _CHUNK]
        znodes = [tree[path] for path in part]
        columns: dict[str, list[Any]] = {
            "path": part,
            "data": [znode.data for znode in znodes],
            "acl": [None] * len(part),
            "zxid": [zxid] * len(part),
            "zxid_upto": [max(zxid, upto)] * len(part),
        }
        columns |= dict(
            zip(Stat._fields, map(list, zip(*(znode.stat for znode in znodes), strict=True)), strict=True)
        )
        arrays = [pa.array(columns[field.name], field.type) for field in schemas.CHECKPOINTS]
        yield pa.RecordBatch.from_arrays(arrays, schema=schemas.CHECKPOINTS)
