"""ZooKeeper's protocol on a plain socket: as little as a reader and a writer need, and no client library.

Shapes are those of zookeeper.jute: frames of int32 length, big-endian numbers, int32-counted strings.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Iterator, Sequence

CREATE = 1
DELETE = 2
GET_DATA = 4
SET_DATA = 5
GET_CHILDREN = 8
MULTI_READ = 22  # 3.6 and later
STAT_SIZE = 68

_CLOSE = -11
_INT = struct.Struct("!i")
_CONNECT = struct.Struct("!iqiqi16s?")
_REQUEST = struct.Struct("!iii")
_REPLY = struct.Struct("!iqi")
_TIMEOUT_MS = 30_000
_ERROR = -1
_NO_OPERATION = struct.pack("!i?i", -1, True, -1)


class Connection:
    """One session. Requests may be posted ahead of their answers, which come in order."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._incoming = self._socket.makefile("rb", buffering=1 << 20)
        connect = _CONNECT.pack(0, 0, _TIMEOUT_MS, 0, 16, b"", False)
        self._socket.sendall(_INT.pack(len(connect)) + connect)
        self._frame()
        self._xid = 0

    def post(self, operation: int, *bodies: bytes) -> None:
        """Send one request a body, all in one go."""
        self.post_all((operation, body) for body in bodies)

    def post_all(self, requests: Iterable[tuple[int, bytes]]) -> None:
        """Send requests, each an operation and its body, all in one go."""
        pieces = []
        for operation, body in requests:
            self._xid += 1
            pieces.append(_REQUEST.pack(len(body) + 8, self._xid, operation) + body)
        self._socket.sendall(b"".join(pieces))

    def answer(self) -> tuple[int, bytes]:
        """(zxid, what follows the header) of the next answer. Raises ConnectionError on an error answer."""
        frame = self._frame()
        _, zxid, error = _REPLY.unpack_from(frame)
        if error:
            raise ConnectionError(f"ZooKeeper answered error {error}")
        return zxid, frame[_REPLY.size :]

    def data(self, paths: Sequence[bytes]) -> list[bytes]:
        """The data of every path. Raises ConnectionError where one is missing."""
        return [body[4 : 4 + max(0, _INT.unpack_from(body)[0])] for body in self._all(GET_DATA, paths)]

    def children(self, paths: Sequence[bytes]) -> list[list[bytes]]:
        """The names of the children of every path. Raises ConnectionError where one is missing."""
        return [names(body) for body in self._all(GET_CHILDREN, paths)]

    def _all(self, operation: int, paths: Sequence[bytes]) -> Iterator[bytes]:
        """What follows each path's header, one path a request, a thousand requests in flight."""
        return self.pipelined(operation, paths, at_once=1_000, in_flight=1)

    def pipelined(
        self, operation: int, paths: Sequence[bytes], *, at_once: int, in_flight: int
    ) -> Iterator[bytes]:
        """What follows each path's header: `at_once` requests in a go, `in_flight` goes before an answer."""
        waiting = [paths[start : start + at_once] for start in range(0, len(paths), at_once)]
        asked = 0
        for number, some in enumerate(waiting):
            while asked < min(number + in_flight, len(waiting)):
                self.post(operation, *(text(path) + b"\0" for path in waiting[asked]))
                asked += 1
            yield from [self.answer()[1] for _ in some]

    def close(self) -> None:
        self.post(_CLOSE, b"")
        self._frame()
        self._incoming.close()
        self._socket.close()

    def _frame(self) -> bytes:
        head = self._incoming.read(4)
        if len(head) < 4:
            raise ConnectionError("ZooKeeper closed the connection")
        body: bytes = self._incoming.read(_INT.unpack(head)[0])
        return body


def _text_at(body: bytes, at: int) -> bytes:
    return body[at + 4 : at + 4 + _INT.unpack_from(body, at)[0]]


def names(body: bytes) -> list[bytes]:
    """The names that an answer to getChildren tells."""
    found, at = [], 4
    for _ in range(_INT.unpack_from(body)[0]):
        found.append(_text_at(body, at))
        at += 4 + len(found[-1])
    return found


def set_data(path: bytes, data: bytes) -> bytes:
    """The body of a setData that does not look at the version."""
    return text(path) + text(data) + _INT.pack(-1)


def delete(path: bytes) -> bytes:
    """The body of a delete that does not look at the version."""
    return text(path) + _INT.pack(-1)


def path_of(body: bytes) -> bytes:
    """The path that a request's body begins with."""
    return _text_at(body, 0)


def text(value: bytes) -> bytes:
    """A string or buffer."""
    return _INT.pack(len(value)) + value


def multi_read(operation: int, paths: Iterable[bytes]) -> bytes:
    """The body of one MultiRead: the same operation, without a watch, for every path."""
    head = struct.pack("!i?i", operation, False, -1)
    return b"".join([head + text(path) + b"\0" for path in paths]) + _NO_OPERATION


def is_error(answer: bytes, at: int) -> bool:
    """Whether the operation answered at this offset failed: 13 bytes then, headers and error code."""
    return bool(_INT.unpack_from(answer, at)[0] == _ERROR)
