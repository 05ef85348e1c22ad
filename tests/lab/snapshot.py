"""A ZooKeeper snapshot file: the whole data tree and the session table, as a server reads it at its start.

Source: org.apache.zookeeper.server.persistence.FileSnap and DataTree (jute, big-endian). Written without ACLs
(every znode is world:anyone) and without the digest of 3.6+, which servers do not ask for.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from zkdash.znode import STAT_SIZE, Znode

_INT = struct.Struct("!i")
_LONG = struct.Struct("!q")
_HEADER: Final = struct.pack("!4siq", b"ZKSN", 2, -1)
_SESSION = struct.Struct("!qi")
_NO_ACLS: Final = _INT.pack(0)
_OPEN: Final = _LONG.pack(-1)  # the ACL key of world:anyone
_END: Final = _INT.pack(1) + b"/"
_COUNTS = struct.Struct("!qq20xi16xiq")  # of a Stat: czxid, mzxid, cversion, numChildren, pzxid
_CHUNK: Final = 1 << 20


def write(directory: Path, znodes: Iterable[tuple[str, Znode]], sessions: Mapping[int, int]) -> Path:
    """Write `snapshot.<highest zxid>` into a server's `version-2` directory; the file appears when complete.

    `znodes` are (path, znode), "/" first and every parent before its children. `sessions` maps a session id
    to its timeout in milliseconds: a server deletes the ephemerals of a session that is not in it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    part = directory / "part.snapshot"
    with part.open("wb") as file:
        highest = encode(file, znodes, sessions)
    return part.replace(directory / f"snapshot.{highest:x}")


def encode(file: BinaryIO, znodes: Iterable[tuple[str, Znode]], sessions: Mapping[int, int]) -> int:
    """Write the bytes of a snapshot, as `write` does, and return the highest zxid among its znodes."""
    sealed = _Sealed(file)
    sealed.write(_HEADER + _INT.pack(len(sessions)))
    sealed.write(b"".join(_SESSION.pack(*session) for session in sessions.items()) + _NO_ACLS)
    highest = 0
    for path, znode in znodes:
        czxid, mzxid, cversion, children, pzxid = _COUNTS.unpack_from(znode, len(znode) - STAT_SIZE)
        sealed.write(_node(path, znode, (cversion + children) // 2))
        if mzxid > highest or pzxid > highest or czxid > highest:
            highest = max(czxid, mzxid, pzxid)
    sealed.write(_END)
    sealed.seal()
    return highest


def _node(path: str, znode: Znode, created: int) -> bytes:
    """One record. A packed znode holds it already, except for the ACL key and three of Stat's counts.

    `created` is the stored cversion. It counts creations only: a server shows 2 × created − children.
    """
    name = b"" if path == "/" else path.encode()
    stat = len(znode) - STAT_SIZE
    return b"".join(
        (
            _INT.pack(len(name)),
            name,
            znode[:stat],  # the data's length and the data
            _OPEN,
            znode[stat : stat + 36],  # czxid, mzxid, ctime, mtime, version
            _INT.pack(created),
            znode[stat + 40 : stat + 52],  # aversion, ephemeralOwner
            znode[stat + 60 :],  # pzxid
        )
    )


class _Sealed:
    """A file written in large pieces, its Adler-32 kept on the way."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._buffer = io.BytesIO()
        self._checksum = 1

    def write(self, piece: bytes) -> None:
        if self._buffer.write(piece) and self._buffer.tell() >= _CHUNK:
            self._flush()

    def seal(self) -> None:
        """The checksum of all bytes so far, and a path "/" after it."""
        self._flush()
        self._file.write(_LONG.pack(self._checksum) + _END)

    def _flush(self) -> None:
        piece = self._buffer.getvalue()
        self._checksum = zlib.adler32(piece, self._checksum)
        self._file.write(piece)
        self._buffer = io.BytesIO()
