"""The words every room shares: a znode as it was read, one that could not be, a batch of them, a write.

This module knows the shape of ZooKeeper's answer to getData and nothing of Kafka, sockets or clocks.
It imports nothing of ours.
"""

from __future__ import annotations

import enum
import operator
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

_LENGTH = struct.Struct("!i")
_STAT = struct.Struct("!qqqqiiiqiiq")
STAT_SIZE = _STAT.size
_NULL = _LENGTH.pack(-1)


class Stat(NamedTuple):
    """ZooKeeper's Stat (jute org.apache.zookeeper.data.Stat): zxids, epoch milliseconds, counts, bytes.

    `ephemeral_owner` is a signed 64-bit session id, 0 for a persistent znode.
    """

    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    ephemeral_owner: int
    data_length: int
    num_children: int
    pzxid: int


class Znode(bytes):
    """One znode as getData answered it, packed: int32 data length (-1 is null), data, 68 bytes of Stat.

    It is the answer's own bytes, so that 400 000 of them cost one small object each
    (no parsing until somebody asks). Immutable, and equal when data and Stat are equal.
    """

    __slots__ = ()

    @classmethod
    def of(cls, data: bytes | None, stat: tuple[int, ...]) -> Znode:
        """Pack data and the fields of a Stat, for sources other than the wire (snapshots, recorded trees)."""
        return cls(_with_length(data) + _STAT.pack(*stat))

    @classmethod
    def of_columns(cls, data: Iterable[bytes | None], stats: Sequence[Iterable[int]]) -> list[Znode]:
        """The same of many by column: their data, and each field of their Stats."""
        # One column after the other: to make each znode by itself takes a third longer.
        packed = [*map(_STAT.pack, *stats)]
        begins = [*map(_with_length, data)]
        return [*map(cls, [*map(operator.add, begins, packed)])]

    @property
    def data(self) -> bytes | None:
        """The data; None where ZooKeeper holds null, which is not the same as empty."""
        if self[:4] == _NULL:
            return None
        return self[4:-STAT_SIZE]

    @property
    def stat(self) -> Stat:
        return Stat._make(_STAT.unpack_from(self, len(self) - STAT_SIZE))

    @property
    def czxid(self) -> int:
        return int.from_bytes(self[-68:-60], "big", signed=True)

    @property
    def mzxid(self) -> int:
        return int.from_bytes(self[-60:-52], "big", signed=True)

    @property
    def ctime(self) -> int:
        """Creation time in epoch milliseconds, by the server's clock."""
        return int.from_bytes(self[-52:-44], "big", signed=True)

    @property
    def mtime(self) -> int:
        """Time of the last data change in epoch milliseconds, by the server's clock."""
        return int.from_bytes(self[-44:-36], "big", signed=True)

    @property
    def version(self) -> int:
        return int.from_bytes(self[-36:-32], "big", signed=True)

    @property
    def ephemeral_owner(self) -> int:
        return int.from_bytes(self[-24:-16], "big", signed=True)

    @property
    def num_children(self) -> int:
        return int.from_bytes(self[-12:-8], "big", signed=True)


def _with_length(data: bytes | None) -> bytes:
    return _NULL if data is None else _LENGTH.pack(len(data)) + data


def newest_mtime(reads: Iterable[object]) -> int:
    """The newest mtime of the znodes among what was read, 0 where there is none."""
    times = [read[-44:-36] for read in reads if read.__class__ is Znode]
    if not times:
        return 0
    newest = int.from_bytes(max(times), "big", signed=True)
    if newest < 0:  # as bytes, times before 1970 are the largest
        newest = max(int.from_bytes(time, "big", signed=True) for time in times)
    return newest


class Operation(enum.Enum):
    """What a write does with a znode. CHECK compares the version and changes nothing."""

    CREATE = "create"
    SET = "set"
    DELETE = "delete"
    CHECK = "check"


class Unreadable(msgspec.Struct, frozen=True):
    """A znode that exists but that this session may not or could not read; `reason` is a sentence."""

    reason: str


class Acl(msgspec.Struct, frozen=True):
    """One entry of a znode's ACL: what whom `scheme` and `id` mean may do.

    `perms` are ZooKeeper's bits (org.apache.zookeeper.ZooDefs.Perms): read 1, write 2, create 4, delete 8,
    admin 16. Of scheme "digest" the id is the user's name alone, never the hash.
    """

    perms: int
    scheme: str
    id: str


class Batch(msgspec.Struct, frozen=True):
    """What changed since the last batch, as one whole.

    `changed` maps a path under the cluster's chroot (the chroot itself is "/") to what was read, None for
    a deleted znode. `zxid` is the last transaction that the answers are known to include. `settling` is
    True where no quiet point came in time, so that a ZooKeeper multi may show in part. `whole` is True
    for the first load and for each catch-up after a reconnect (still only the paths that differ).
    """

    changed: Mapping[str, Znode | Unreadable | None]
    zxid: int
    settling: bool = False
    whole: bool = False
