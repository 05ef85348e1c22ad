"""What a watcher saw, as rows of the change: how each znode that it read differs from what was known.

A watcher coalesces: of several writes it sees the last, and `version` tells how many there were. Rows of
offsets are thinned further, to the last one of each take. What was made and written before it was read is a
create without data, then a write. A create or a write tells its zxid and its time by itself; of what is gone
only bounds are known, and the recorder's clock. Arrow is imported with the first rows that are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zkdash.cluster.changes import row
from zkdash.history.recorder.sighting import Seen
from zkdash.zk.mirror import offsets
from zkdash.znode import Batch, Znode

if TYPE_CHECKING:
    import pyarrow as pa

_TTL_OWNERS: Final = range(row.TTL_OWNER, row.TTL_OWNER + (1 << 40))


class Recording:
    """The znodes as they were read last, and what changed since the last `take`.

    `reached`: everything up to this transaction was read, but offsets, which come up to a second later.
    """

    def __init__(self) -> None:
        self.known: dict[str, Znode] = {}
        self.reached = 0
        self._told = 0
        self._sure = 0
        self._seen: list[Seen] = []
        self._offsets: dict[str, Seen] = {}

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

    def take(self, *, with_offsets: bool = True) -> pa.Table:
        """What changed since the last call, in the order of transactions as far as it is known.

        Without offsets the last of each is kept for the next call.
        """
        from zkdash.history.recorder import arrow_rows  # noqa: PLC0415 - see the module

        changes = [*self._seen, *(self._offsets.values() if with_offsets else ())]
        changes.sort(key=lambda each: each.upto)
        self._seen.clear()
        self._told = self.reached
        if with_offsets:
            self._offsets.clear()
        for path, change in self._offsets.items():
            if change.upto <= self._told:
                self._offsets[path] = change._replace(zxid=None, upto=self._told + 1)
        return arrow_rows.of_changes(changes)

    def checkpoint(self, zxid: int) -> pa.Table:
        """All znodes as they are known; `zxid` is the last transaction of which all is among them."""
        from zkdash.history.recorder import arrow_rows  # noqa: PLC0415 - see the module

        return arrow_rows.of_znodes(self.known, zxid, self.reached)

    def _changed(self, path: str, before: Znode | None, now: Znode, upto: int, now_ms: int) -> None:
        if before is not None and before.czxid == now.czxid:
            if before.mzxid != now.mzxid:
                self._put(_dated("setData", path, now), upto, thins=True)
            elif before.stat.aversion != now.stat.aversion:
                after = max(before.mzxid, min(self._sure, upto - 1))
                self._put(Seen("setACL", path, now, None, after, upto, now_ms), upto)
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
        self._put(Seen("delete", path, None, None, min(after, upto - 1), upto, now_ms), upto)

    def _put(self, change: Seen, upto: int, *, thins: bool = False) -> None:
        if change.zxid is not None and change.zxid <= self._told:
            # Transactions up to a later one were told: it comes with the next.
            change = change._replace(zxid=None, upto=max(upto, self._told + 1))
        if thins and offsets.is_offset(change.path):
            self._offsets[change.path] = change
        else:
            self._seen.append(change)


def _dated(kind: str, path: str, znode: Znode) -> Seen:
    """A create or a write as the znode itself tells it."""
    if kind in row.SETS:
        return Seen(kind, path, znode, znode.mzxid, znode.mzxid - 1, znode.mzxid, znode.mtime)
    return Seen(kind, path, znode, znode.czxid, znode.czxid - 1, znode.czxid, znode.ctime)


def _created(owner: int) -> str:
    if owner == row.CONTAINER_OWNER:
        return "createContainer"
    return "createTTL" if owner in _TTL_OWNERS else "create"
