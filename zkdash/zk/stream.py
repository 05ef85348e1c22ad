"""One connection's bytes, both ways, and what a session reports: frames, replies, events, ends.

Knows ZooKeeper's framing and nothing of sockets, threads or kazoo. What another side announces is never
allocated before it came, and never taken above MAX_FRAME.
"""

from __future__ import annotations

import collections
import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from zkdash.zk import jute

MAX_FRAME = 64 * 1024 * 1024


class Cause(enum.Enum):
    """Why a connection could not be had, or ended."""

    UNRESOLVED = "unresolved"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed out"
    NOT_ZOOKEEPER = "not ZooKeeper"
    CLOSED = "closed"
    SILENT = "silent"
    TOO_LARGE = "too large"
    UNTRUSTED = "untrusted"
    NO_TLS = "no TLS"
    FILES = "files"


class Connected(NamedTuple):
    """A connection stands and the session is authenticated. `peer`, of the name `host`, is to be probed."""

    generation: int
    server: str
    peer: tuple[str, int]
    session_id: int
    session_timeout_s: float
    host: str


class Event(NamedTuple):
    """A watch event, undecoded; `zxid` is -1 before ZooKeeper 3.9."""

    generation: int
    zxid: int
    body: bytes


class Reply(NamedTuple):
    """The answer to the request that was sent with `token`, undecoded."""

    generation: int
    token: Any
    zxid: int
    error: int
    body: bytes


class Dropped(NamedTuple):
    """A connection ended (`generation`), or could not be had (0); kazoo goes on trying."""

    generation: int
    server: str
    cause: Cause
    detail: str


class Expired(NamedTuple):
    """The session is gone; kazoo goes on to a new one."""


class AuthFailed(NamedTuple):
    """The server refused the credential; kazoo has given up."""

    server: str


class Ended(NamedTuple):
    """kazoo's thread ended; nothing more will come from this contact."""


Item = Connected | Event | Reply | Dropped | Expired | AuthFailed | Ended
Deliver = Callable[[Sequence[Item]], None]


class BrokenError(Exception):
    """The connection cannot go on, for a cause that can be worded."""

    def __init__(self, cause: Cause, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class Stream:
    """One connection's bytes, both ways: frames out of chunks, requests matched with their replies."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.written = bytearray()
        self.zxid = 0
        self.closed = False
        self._read = bytearray()
        self._pending: collections.deque[tuple[int, Any]] = collections.deque()
        self._xid = 0

    def write(self, opcode: int, body: bytes, token: Any) -> None:
        """Append a request; its reply will carry `token`."""
        self._xid = self._xid % 2147483647 + 1
        self._pending.append((self._xid, token))
        self.written += jute.frame(self._xid, opcode, body)

    def ping(self) -> None:
        """Append a ping, which keeps the session and asks for a sign of life."""
        self.written += jute.frame(jute.PING_XID, jute.PING, b"")

    def feed(self, chunk: bytes) -> list[Item]:
        """Take received bytes; return the events and replies that became whole."""
        buffer, items = self._read, []
        buffer += chunk
        while len(buffer) >= 4:
            length = int.from_bytes(buffer[:4], "big", signed=True)
            if length < jute.REPLY_HEADER.size:
                raise BrokenError(Cause.NOT_ZOOKEEPER, "")
            if length > MAX_FRAME:
                raise BrokenError(Cause.TOO_LARGE, str(length))
            if len(buffer) < length + 4:
                break
            with memoryview(buffer) as view:
                whole = bytes(view[4 : length + 4])
            del buffer[: length + 4]
            item = self._item(whole)
            if item is not None:
                items.append(item)
        return items

    def _item(self, whole: bytes) -> Item | None:
        xid, zxid, error = jute.REPLY_HEADER.unpack_from(whole)
        if xid == jute.PING_XID:
            return None
        self.zxid = max(self.zxid, zxid)
        body = whole[jute.REPLY_HEADER.size :]
        if xid == jute.WATCH_XID:
            return Event(self.generation, zxid, body)
        if not self._pending or self._pending[0][0] != xid:
            raise BrokenError(Cause.NOT_ZOOKEEPER, "")
        _, token = self._pending.popleft()
        if token is None:
            self.closed = True
            return None
        return Reply(self.generation, token, zxid, error, body)
