"""What one server knows, asked on connections that are thrown away.

A server before 3.6 answers an unknown opcode with Unimplemented and drops the connection (and the session
with it), so the question must not be asked on the session's own connection. What a server knows is its own:
while an ensemble is upgraded its servers differ. Knows sockets only.
"""

from __future__ import annotations

import functools
import re
import socket
import struct
from collections.abc import Callable

import msgspec

from zkdash.tls import Tls
from zkdash.zk.connection import tls
from zkdash.zk.wire import jute

_LIMIT_S = 3.0
_MAX_ANSWER = 64 * 1024
_CONNECT = struct.Struct("!iqiqi16s?")
_SESSION_MS = 4000
_VERSION = re.compile(rb"Zookeeper version: (\d+)\.(\d+)(?:\.(\d+))?")
_NEEDED = (3, 6)


class Verdict(msgspec.Struct, frozen=True):
    """What a server said: `is_one_shot` where it surely lacks MultiRead and persistent watches.

    `version` is "3.9.5", None where the four-letter word srvr is not allowed there.
    """

    is_one_shot: bool
    version: str | None = None


def ask(peer: tuple[str, int], host: str, over: Tls | None) -> Verdict:
    """Ask the server at (address, port), whose name is `host`, for its version, or else a MultiRead of "/".

    Never raises on I/O.
    """
    dial = functools.partial(tls.dial, over, peer, hostname=host, limit_s=_LIMIT_S)
    version = _version(dial)
    if version is not None:
        return Verdict(is_one_shot=version[:2] < _NEEDED, version=".".join(map(str, version)))
    return Verdict(is_one_shot=not _answers_multi_read(dial))


def _version(dial: Callable[[], socket.socket]) -> tuple[int, ...] | None:
    answer = b""
    try:
        with dial() as connection:
            connection.sendall(b"srvr")
            while len(answer) < _MAX_ANSWER and (chunk := connection.recv(4096)):
                answer += chunk
    except OSError:
        return None
    match = _VERSION.search(answer)
    return None if match is None else tuple(int(part) for part in match.groups() if part)


def _answers_multi_read(dial: Callable[[], socket.socket]) -> bool:
    """True unless the server answers Unimplemented; a connection that breaks proves nothing."""
    try:
        with dial() as connection:
            handshake = _CONNECT.pack(0, 0, _SESSION_MS, 0, 16, bytes(16), False)
            connection.sendall(len(handshake).to_bytes(4, "big") + handshake)
            _receive(connection)
            connection.sendall(jute.frame(1, jute.MULTI_READ, jute.multi_read([b"/"], [])))
            _, _, error = jute.REPLY_HEADER.unpack_from(_receive(connection))
            connection.sendall(jute.frame(2, jute.CLOSE, b""))
    except (OSError, struct.error):
        return True
    return bool(error != jute.UNIMPLEMENTED)


def _receive(connection: socket.socket) -> bytes:
    length = int.from_bytes(_exactly(connection, 4), "big", signed=True)
    if not 0 <= length <= _MAX_ANSWER:
        raise ConnectionError("no ZooKeeper")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes:
    received = b""
    while len(received) < length:
        chunk = connection.recv(length - len(received))
        if not chunk:
            raise ConnectionError("closed")
        received += chunk
    return received
