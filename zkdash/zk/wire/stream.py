"""One connection's bytes, both ways, and what a session reports: frames, replies, events, ends.

Knows ZooKeeper's framing and nothing of sockets, threads or kazoo. What another side announces is never
allocated before it came, and never taken above MAX_FRAME.
"""

from __future__ import annotations

import collections
import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from zkdash.zk.wire import jute

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


class Replies(NamedTuple):
    """The answers to the requests that were sent together with `token`: undecoded, or the code of an error.

    `zxid` is that of the last.
    """

    generation: int
    token: Any
    zxid: int
    answers: list[bytes | int]


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


Item = Connected | Event | Reply | Replies | Dropped | Expired | AuthFailed | Ended
Deliver = Callable[[Sequence[Item]], None]


class BrokenError(Exception):
    """The connection cannot go on, for a cause that can be worded."""

    def __init__(self, cause: Cause, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class _Awaited:
    """What was sent with one token: the xid of the next answer, how many are left, and those that came."""

    __slots__ = ("answers", "is_many", "left", "size", "token", "xid")

    def __init__(self, xid: int, token: Any, count: int | None) -> None:
        self.xid, self.token = xid, token
        self.is_many, self.left = count is not None, count or 1
        self.answers: list[bytes | int] = []
        self.size = 0


class Stream:
    """One connection's bytes, both ways: frames out of chunks, requests matched with their replies."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.written = bytearray()
        self.zxid = 0
        self.closed = False
        self._read = bytearray()
        self._pending: collections.deque[_Awaited] = collections.deque()
        self._xid = 0

    def write(self, opcode: int, body: bytes, token: Any) -> None:
        """Append a request; its reply will carry `token`."""
        self._xid = _following(self._xid)
        self._pending.append(_Awaited(self._xid, token, None))
        self.written += jute.frame(self._xid, opcode, body)

    def write_each(self, requests: Sequence[tuple[int, bytes]], token: Any) -> None:
        """Append requests, each an opcode and a body; their replies come as one, with `token`."""
        xid, frame, frames = self._xid, jute.frame, []
        self._pending.append(_Awaited(_following(xid), token, len(requests)))
        for opcode, body in requests:
            xid = _following(xid)
            frames.append(frame(xid, opcode, body))
        self._xid = xid
        self.written += b"".join(frames)

    def ping(self) -> None:
        """Append a ping, which keeps the session and asks for a sign of life."""
        self.written += jute.frame(jute.PING_XID, jute.PING, b"")

    def feed(self, chunk: bytes) -> list[Item]:
        """Take received bytes; return the events and replies that became whole."""
        buffer, items, offset = self._read, [], 0
        buffer += chunk
        end, header = len(buffer), jute.REPLY_HEADER
        with memoryview(buffer) as view:
            while end - offset >= 4:
                length = int.from_bytes(view[offset : offset + 4], "big", signed=True)
                if length < header.size:
                    raise BrokenError(Cause.NOT_ZOOKEEPER, "")
                if length > MAX_FRAME:
                    raise BrokenError(Cause.TOO_LARGE, str(length))
                start, offset_after = offset + 4, offset + 4 + length
                if offset_after > end:
                    break
                xid, zxid, error = header.unpack_from(view, start)
                item = self._item(xid, zxid, error, bytes(view[start + header.size : offset_after]))
                if item is not None:
                    items.append(item)
                offset = offset_after
        del buffer[:offset]
        return items

    def _item(self, xid: int, zxid: int, error: int, body: bytes) -> Item | None:
        if xid == jute.PING_XID:
            return None
        self.zxid = max(self.zxid, zxid)
        if xid == jute.WATCH_XID:
            return Event(self.generation, zxid, body)
        awaited = self._pending[0] if self._pending else None
        if awaited is None or awaited.xid != xid:
            raise BrokenError(Cause.NOT_ZOOKEEPER, "")
        awaited.left -= 1
        if not awaited.left:
            self._pending.popleft()
        if awaited.is_many:
            self._keep(awaited, error, body)
            return None if awaited.left else Replies(self.generation, awaited.token, zxid, awaited.answers)
        if awaited.token is None:
            self.closed = True
            return None
        return Reply(self.generation, awaited.token, zxid, error, body)

    def _keep(self, awaited: _Awaited, error: int, body: bytes) -> None:
        """Keep one of many answers, which together are taken up to the same length as a single one."""
        awaited.answers.append(error or body)
        awaited.xid = _following(awaited.xid)
        awaited.size += len(body)
        if awaited.size > MAX_FRAME:
            raise BrokenError(Cause.TOO_LARGE, str(awaited.size))


def _following(xid: int) -> int:
    return xid % 2147483647 + 1
