"""The bytes of ZooKeeper's protocol that we write and read ourselves: to read and to watch, never to change.

Knows jute's encoding (big-endian; a string is an int32 length and UTF-8) and the opcodes of
org.apache.zookeeper.ZooDefs.OpCode that kazoo lacks. Knows nothing of sockets, threads or kazoo.
Paths in and out are under the chroot: a request prefixes it, an event strips it, comparing with
chroot + "/" so that "/ab" is never taken for a child of "/a".
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable

from zkdash.znode import STAT_SIZE, Acl, Znode

EXISTS = 3
GET_DATA = 4
GET_ACL = 6
GET_CHILDREN = 8
SYNC = 9
PING = 11
MULTI_READ = 22
SET_WATCHES = 101
ADD_WATCH = 106
CLOSE = -11

WATCH_XID = -1
PING_XID = -2

PERSISTENT_RECURSIVE = 1

CREATED = 1
DELETED = 2
CHANGED = 3
CHILDREN_CHANGED = 4

UNIMPLEMENTED = -6
NO_NODE = -101
NO_AUTH = -102

REPLY_HEADER = struct.Struct("!iqi")
_INT = struct.Struct("!i")
_LONG = struct.Struct("!q")
_REQUEST = struct.Struct("!iii")
_EVENT = struct.Struct("!iii")
_RESULT = struct.Struct("!iBii")
_RESULT_HEADER = 9
_GET = struct.pack("!iBi", GET_DATA, 0, -1)
_LIST = struct.pack("!iBi", GET_CHILDREN, 0, -1)
_END = struct.pack("!iBi", -1, 1, -1)
_UNWATCHED = b"\x00"
_WATCHED = b"\x01"


class MalformedError(Exception):
    """A reply that is not what the protocol says; the connection cannot be trusted any more."""


class Chroot:
    """The place of one Kafka cluster in an ensemble: "" or "/a/b"."""

    def __init__(self, chroot: str) -> None:
        self._prefix = chroot.encode()

    def full(self, path: str) -> bytes:
        """The path as ZooKeeper knows it."""
        if path == "/":
            return self._prefix or b"/"
        return self._prefix + path.encode()

    def strip(self, full: bytes) -> str | None:
        """The path under the chroot; None where it is outside of it or is no UTF-8."""
        prefix = self._prefix
        if full == prefix:
            return "/"
        if not full.startswith(prefix + b"/"):
            return None
        try:
            return full[len(prefix) :].decode()
        except UnicodeDecodeError:
            return None


def frame(xid: int, opcode: int, body: bytes) -> bytes:
    """A whole request as it goes on the wire."""
    return _REQUEST.pack(len(body) + 8, xid, opcode) + body


def path_and_flag(full: bytes) -> bytes:
    """The body of exists, getData and getChildren, without a one-shot watch."""
    return _INT.pack(len(full)) + full + _UNWATCHED


def get_acl(full: bytes) -> bytes:
    """The body of getACL."""
    return _INT.pack(len(full)) + full


def each(gets: Iterable[bytes], lists: Iterable[bytes], *, watch: bool) -> list[tuple[int, bytes]]:
    """Opcodes and bodies of a getData for each of `gets`, then a getChildren for each of `lists`.

    With `watch` each leaves a one-shot watch, where it does not fail.
    """
    pack, flag = _INT.pack, _WATCHED if watch else _UNWATCHED
    requests = [(GET_DATA, pack(len(full)) + full + flag) for full in gets]
    requests += [(GET_CHILDREN, pack(len(full)) + full + flag) for full in lists]
    return requests


def set_watches(
    zxid: int, data: Collection[bytes], exist: Collection[bytes], child: Collection[bytes]
) -> bytes:
    """The body of setWatches: one-shot watches as of transaction `zxid`.

    What changed since is told by an event in place of its watch: `data` that is newer or gone, `exist` that
    is there, `child` whose children came or went.
    """
    parts = [_LONG.pack(zxid)]
    for paths in (data, exist, child):
        parts.append(_INT.pack(len(paths)))
        parts += [_INT.pack(len(full)) + full for full in paths]
    return b"".join(parts)


def sync(full: bytes) -> bytes:
    """The body of sync."""
    return _INT.pack(len(full)) + full


def add_watch(full: bytes) -> bytes:
    """The body of addWatch for a persistent recursive watch (ZooKeeper 3.6+); the path need not exist."""
    return _INT.pack(len(full)) + full + _INT.pack(PERSISTENT_RECURSIVE)


def multi_read(gets: Iterable[bytes], lists: Iterable[bytes]) -> bytes:
    """The body of a MultiRead (ZooKeeper 3.6+): getData of all `gets`, then getChildren of all `lists`."""
    pack = _INT.pack
    parts = [_GET + pack(len(full)) + full + _UNWATCHED for full in gets]
    parts += [_LIST + pack(len(full)) + full + _UNWATCHED for full in lists]
    parts.append(_END)
    return b"".join(parts)


def read_multi(body: bytes, gets: int, lists: int) -> tuple[list[Znode | int], list[list[str] | int]]:
    """Decode the answer to `multi_read` of as many gets and lists; an error is its (negative) code.

    Names that are no UTF-8 are left out: no client of ours could ask for them. Raises MalformedError.
    """
    try:
        znodes, offset = _read_gets(body, gets)
        listings, offset = _read_lists(body, offset, lists)
    except struct.error as error:
        raise MalformedError("an answer to MultiRead ends too early") from error
    if offset + len(_END) != len(body):
        raise MalformedError("an answer to MultiRead has another length than its parts")
    return znodes, listings


def _read_gets(body: bytes, count: int) -> tuple[list[Znode | int], int]:
    znodes: list[Znode | int] = []
    append, unpack, offset = znodes.append, _RESULT.unpack_from, 0
    for _ in range(count):
        kind, _, _, number = unpack(body, offset)
        offset += _RESULT_HEADER
        if kind == GET_DATA:
            end = offset + 4 + STAT_SIZE + max(0, number)
            append(Znode(body[offset:end]))
            offset = end
        elif kind == -1:
            append(number)
            offset += 4
        else:
            raise MalformedError(f"an answer to MultiRead has a part of type {kind}")
    return znodes, offset


def _read_lists(body: bytes, offset: int, count: int) -> tuple[list[list[str] | int], int]:
    listings: list[list[str] | int] = []
    for _ in range(count):
        kind, _, _, number = _RESULT.unpack_from(body, offset)
        offset += _RESULT_HEADER + 4
        if kind == GET_CHILDREN:
            names, offset = _read_names(body, offset, number)
            listings.append(names)
        elif kind == -1:
            listings.append(number)
        else:
            raise MalformedError(f"an answer to MultiRead has a part of type {kind}")
    return listings, offset


def _read_names(body: bytes, offset: int, count: int) -> tuple[list[str], int]:
    names: list[str] = []
    append, unpack = names.append, _INT.unpack_from
    for _ in range(count):
        start = offset + 4
        offset = start + unpack(body, offset)[0]
        if offset < start:
            raise MalformedError("a child's name has a negative length")
        try:
            append(body[start:offset].decode())
        except UnicodeDecodeError:
            continue
    return names, offset


def read_acl(body: bytes) -> tuple[Acl, ...]:
    """Decode the answer to getACL; of a digest only the user is kept. Raises MalformedError."""
    return tuple(
        Acl(acl.perms, acl.scheme, acl.id.partition(":")[0]) if acl.scheme == "digest" else acl
        for acl in read_whole_acl(body)
    )


def read_whole_acl(body: bytes) -> tuple[Acl, ...]:
    """The same with each digest's hash, to be compared and never shown. Raises MalformedError."""
    try:
        count, offset = _INT.unpack_from(body)[0], _INT.size
        acls = []
        for _ in range(count):
            perms = _INT.unpack_from(body, offset)[0]
            scheme, offset = _read_text(body, offset + _INT.size)
            who, offset = _read_text(body, offset)
            acls.append(Acl(perms, scheme, who))
    except struct.error as error:
        raise MalformedError("an answer to getACL ends too early") from error
    if offset + STAT_SIZE != len(body):
        raise MalformedError("an answer to getACL has another length than its parts")
    return tuple(acls)


def _read_text(body: bytes, offset: int) -> tuple[str, int]:
    """A string and where it ends; jute's null is the empty one."""
    start = offset + _INT.size
    end = start + max(0, _INT.unpack_from(body, offset)[0])
    if end > len(body):
        raise MalformedError("a text is longer than the answer")
    return body[start:end].decode(errors="backslashreplace"), end


def read_event(body: bytes) -> tuple[int, bytes]:
    """Decode a watch event: its type and the full path. Raises MalformedError."""
    try:
        kind, _, length = _EVENT.unpack_from(body)
    except struct.error as error:
        raise MalformedError("a watch event ends too early") from error
    path = body[_EVENT.size :]
    if length != len(path):
        raise MalformedError("a watch event has another length than its path")
    return kind, path
