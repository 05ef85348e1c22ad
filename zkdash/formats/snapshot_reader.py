"""Reads a ZooKeeper snapshot file: plain, gz or snappy, from 3.4 to 3.9, and only one that is whole.

A snapshot is fuzzy: written while the tree changes, so that a transaction after the file's zxid may already
be in it. Source: org.apache.zookeeper.server.persistence.{FileSnap, SnapStream}, DataTree.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from zkdash.formats import bounds, xerial
from zkdash.formats.jute import MalformedError, Reader
from zkdash.formats.problems import Problem

OPEN: Final = "world:anyone:31"
STORED: Final = struct.Struct("!qqqqqiiiqq")  # ACL key, then StatPersisted
_END: Final = b"\0\0\0\1/"
_SEAL_SIZE: Final = 8 + len(_END)
_LAST_ZXID_SIZE: Final = 8 + _SEAL_SIZE
_GZIP: Final = b"\x1f\x8b"
_LENGTH = struct.Struct("!i")


class Digest(NamedTuple):
    """The digest of the tree at `zxid` (3.6+); hexadecimal text in versions below 2."""

    zxid: int
    version: int
    value: int | str


@dataclass
class Layout:
    """Where everything lies in the uncompressed bytes.

    Of each znode: its path ("/" for the root), where the length of its data starts, and where the key of its
    ACL and its Stat are stored, right behind the data.
    """

    data: bytes
    dbid: int = -1
    sessions: dict[int, int] = field(default_factory=dict)
    acls: dict[int, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    digest: Digest | None = None
    last_zxid: int | None = None

    def children(self) -> Counter[str]:
        """How many children each path has."""
        return Counter(path.rpartition("/")[0] or "/" for path in self.paths if path != "/")

    def payload(self, row: int) -> bytes | None:
        """The data of a znode as it stands in the file; None for null."""
        start = self.starts[row]
        if self.data[start : start + 4] == b"\xff\xff\xff\xff":
            return None
        return self.data[start + 4 : self.stored[row]]


def layout(data: bytes) -> Layout | Problem:
    """Where all is in a snapshot, every seal checked. Offsets of problems count uncompressed bytes."""
    try:
        plain = _uncompressed(data)
    except ValueError as error:
        is_torn = not isinstance(error, bounds.ExceededError)
        return Problem(0, f"the snapshot cannot be uncompressed: {error}", torn=is_torn)
    if plain[:4] != b"ZKSN":
        return Problem(0, "not a snapshot: it does not begin with ZKSN", torn=not plain)
    if plain[-len(_END) :] != _END:
        return Problem(len(plain), "the snapshot is torn: it does not end as a whole one does", torn=True)
    reader = Reader(plain, 4)
    try:
        return _layout(reader, plain)
    except MalformedError as error:
        return Problem(reader.position, f"a snapshot in no known form: {error}")


def _uncompressed(data: bytes) -> bytes:
    limit = bounds.of_snapshot(len(data))
    if data.startswith(xerial.MAGIC):
        return xerial.decompress(data, limit)
    if not data.startswith(_GZIP):
        return data
    stream = zlib.decompressobj(wbits=31)
    try:
        plain = stream.decompress(data, limit)
    except zlib.error as error:
        raise ValueError(f"gzip: {error}") from error
    if stream.unconsumed_tail:
        raise bounds.ExceededError(f"{len(data)} bytes of gzip are more than {limit}")
    if not stream.eof:
        raise ValueError("the gzip stream ends too early")
    return plain


def _layout(reader: Reader, data: bytes) -> Layout:
    version = reader.i32()
    if version != 2:
        raise MalformedError(f"version {version}, where only 2 is known")
    layout = Layout(data, dbid=reader.i64())
    layout.sessions = {reader.i64(): reader.i32() for _ in range(reader.count())}
    layout.acls = {reader.i64(): ",".join(map(str, reader.acl())) for _ in range(reader.count())}
    reader.position = _walk(data, reader.position, layout)
    _seal(reader, data)
    if reader.left not in (0, _LAST_ZXID_SIZE):
        layout.digest = _digest(reader)
        _seal(reader, data)
    if reader.left:
        layout.last_zxid = reader.i64()
        _seal(reader, data)
    if reader.left:
        raise MalformedError(f"{reader.left} bytes are left behind its last seal")
    return layout


def _walk(data: bytes, position: int, layout: Layout) -> int:
    """The znodes from `position` on, up to the path that ends them; the position behind it."""
    length_at, last = _LENGTH.unpack_from, len(data) - STORED.size - 4
    paths, starts, stored = layout.paths, layout.starts, layout.stored
    while data[position : position + 5] != _END:
        (length,) = length_at(data, position) if position <= last else (-1,)
        after = position + 4 + length
        if length < 0 or after > last:
            raise MalformedError(f"a path of {length} bytes at byte {position}")
        (size,) = length_at(data, after)
        at = after + 4 + max(size, 0)
        if size < -1 or at > len(data) - STORED.size:
            raise MalformedError(f"data of {size} bytes at byte {after}")
        paths.append(data[position + 4 : after].decode(errors="replace") or "/")
        starts.append(after)
        stored.append(at)
        position = at + STORED.size
    return position + len(_END)


def _digest(reader: Reader) -> Digest:
    zxid, version = reader.i64(), reader.i32()
    return Digest(zxid, version, reader.string() if version < 2 else reader.i64())


def _seal(reader: Reader, data: bytes) -> None:
    """The checksum of all bytes up to here, and a path "/"."""
    position = reader.position
    checksum = reader.i64()
    if zlib.adler32(memoryview(data)[:position]) != checksum or reader.buffer() != b"/":
        raise MalformedError(f"its seal at byte {position} does not hold")
