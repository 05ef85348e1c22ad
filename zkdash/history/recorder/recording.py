"""What a watcher saw, as rows of the change: how each znode that it read differs from what was known.

A watcher coalesces: of several writes it sees the last, and `version` tells how many there were. Rows of
offsets are thinned further, to the last one of each take. What was made and written before it was read is a
create without data, then a write. A create or a write tells its zxid and its time by itself; of what is gone
only bounds are known, and the recorder's clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa

from zkdash.cluster.changes import row
from zkdash.history.store import schemas
from zkdash.zk.mirror import offsets
from zkdash.znode import Batch, Stat, Znode

_TTL_OWNERS: Final = range(row.TTL_OWNER, row.TTL_OWNER + (1 << 40))
_CHUNK: Final = 20_000


class _Seen(NamedTuple):
    """A change: its type, where, what was read (None of what is gone), its zxid or bounds, its time."""

    type: str
    path: str
    znode: Znode | None
    zxid: int | None
    after: int
    upto: int
    time: int


class Recording:
    """The znodes as they were read last, and what changed since the last `take`.

    `reached`: everything up to this transaction was read, but offsets, which come up to a second later.
    """

    def __init__(self) -> None:
        self.known: dict[str, Znode] = {}
        self.reached = 0
        self._told = 0
        self._sure = 0
        self._seen: list[_Seen] = []
        self._offsets: dict[str, _Seen] = {}

    def __len__(self) -> int:
        return len(self._seen) + len(self._offsets)

    def load(self, batch: Batch) -> None:
        """Take a whole tree in, of which nothing was known before."""
        self.known = {path: value for path, value in batch.changed.items() if isinstance(value, Znode)}
        self.reached = self._sure = batch.zxid
        self.begin()

    def begin(self) -> None:
        """Forget what changed so far: what is known now is told as a checkpoint."""
        self._seen.clear()
        self._offsets.clear()
        self._told = self.reached

    def add(self, batch: Batch, now_ms: int) -> None:
        """Take a batch in. What cannot be read is left as it was known."""
        znodes = self.known
        for path, value in batch.changed.items():
            if isinstance(value, Znode):
                before = znodes.get(path)
                znodes[path] = value
                self._changed(path, before, value, batch.zxid, now_ms)
            elif value is None and path in znodes:
                gone = znodes.pop(path)
                self._gone(path, gone, batch.zxid, now_ms)
        self.reached = batch.zxid
        if not batch.settling:
            self._sure = batch.zxid

    def take(self) -> pa.Table:
        """What changed since the last call, in the order of transactions as far as it is known."""
        changes = [*self._seen, *self._offsets.values()]
        changes.sort(key=lambda each: each.upto)
        self._seen.clear()
        self._offsets.clear()
        self._told = self.reached
        return _rows(changes)

    def checkpoint(self, zxid: int) -> pa.Table:
        """All znodes as they are known; `zxid` is the last transaction of which all is among them."""
        return pa.Table.from_batches(_znodes(self.known, zxid, self.reached), schemas.CHECKPOINTS)

    def _changed(self, path: str, before: Znode | None, now: Znode, upto: int, now_ms: int) -> None:
        if before is not None and before.czxid == now.czxid:
            if before.mzxid != now.mzxid:
                self._put(_dated("setData", path, now), upto, thins=True)
            elif before.stat.aversion != now.stat.aversion:
                after = max(before.mzxid, min(self._sure, upto - 1))
                self._put(_Seen("setACL", path, now, None, after, upto, now_ms), upto)
            return
        if before is not None:
            self._gone(path, before, min(upto, max(now.czxid, self._told + 1)), now_ms)
        made = _dated(_created(now.ephemeral_owner), path, now)
        if now.version:
            self._put(made._replace(znode=Znode.of(None, now.stat)), upto)
            self._put(_dated("setData", path, now), upto)
        else:
            self._put(made, upto)

    def _gone(self, path: str, before: Znode, upto: int, now_ms: int) -> None:
        if path in self._offsets:
            self._seen.append(self._offsets.pop(path))
        after = before.mzxid if offsets.is_offset(path) else max(before.mzxid, self._sure)
        upto = max(upto, self._told + 1)
        self._put(_Seen("delete", path, None, None, min(after, upto - 1), upto, now_ms), upto)

    def _put(self, change: _Seen, upto: int, *, thins: bool = False) -> None:
        if change.zxid is not None and change.zxid <= self._told:
            # Transactions up to a later one were told: it comes with the next.
            change = change._replace(zxid=None, upto=max(upto, self._told + 1))
        if thins and offsets.is_offset(change.path):
            self._offsets[change.path] = change
        else:
            self._seen.append(change)


def _dated(kind: str, path: str, znode: Znode) -> _Seen:
    """A create or a write as the znode itself tells it."""
    if kind in row.SETS:
        return _Seen(kind, path, znode, znode.mzxid, znode.mzxid - 1, znode.mzxid, znode.mtime)
    return _Seen(kind, path, znode, znode.czxid, znode.czxid - 1, znode.czxid, znode.ctime)


def _created(owner: int) -> str:
    if owner == row.CONTAINER_OWNER:
        return "createContainer"
    return "createTTL" if owner in _TTL_OWNERS else "create"


def _rows(changes: list[_Seen]) -> pa.Table:
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
    count = len(changes)
    columns |= {"source": [row.WATCHED] * count, **{name: [None] * count for name in _NEVER}}
    return pa.table({name: columns[name] for name in schemas.CHANGES.names}, schema=schemas.CHANGES)


_NEVER: Final = ("session", "removed", "acl")  # what a watcher never learns


def _version(kind: str, stat: Stat | None) -> int | None:
    if stat is None:
        return None
    if kind == "setACL":
        return stat.aversion
    return 0 if kind in row.CREATES else stat.version


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
