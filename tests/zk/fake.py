"""Servers that are no ZooKeeper, or an old one: each answers every connection in its one way."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

Answer = Callable[[socket.socket], None]

_LIMIT_S = 60.0


@contextlib.contextmanager
def serving(answer: Answer) -> Iterator[int]:
    """Serve on a free port of 127.0.0.1 for the time of the block; gives the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, answer), daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, answer: Answer) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(connection, answer), daemon=True).start()


def _serve(connection: socket.socket, answer: Answer) -> None:
    connection.settimeout(_LIMIT_S)
    with connection, contextlib.suppress(OSError):
        answer(connection)


def says(data: bytes) -> Answer:
    """A server that says the same to everybody, whatever they ask, then waits for them to go."""

    def answer(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(data)
        while connection.recv(4096):
            pass

    return answer


def closes(connection: socket.socket) -> None:
    """A server that closes at once."""


def is_silent(connection: socket.socket) -> None:
    """A server that takes everything and says nothing."""
    while connection.recv(4096):
        pass


def request(connection: socket.socket) -> bytes:
    """Read one frame."""
    length = struct.unpack("!i", _exactly(connection, 4))[0]
    return _exactly(connection, length)


def accepts_session(connection: socket.socket) -> None:
    """Take part in the handshake: a session 1 of 2 s."""
    request(connection)
    reply = struct.pack("!iiqi16s?", 0, 2000, 1, 16, bytes(16), False)
    connection.sendall(struct.pack("!i", len(reply)) + reply)


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        chunk = connection.recv(length - len(data))
        if not chunk:
            raise ConnectionError
        data += chunk
    return data


def announces_two_gib_after_the_handshake(connection: socket.socket) -> None:
    accepts_session(connection)
    connection.sendall(struct.pack("!i", 2**31 - 1))
    is_silent(connection)


def is_unimplemented(connection: socket.socket) -> None:
    """A ZooKeeper before 3.6: Unimplemented for what it does not know, then it drops the connection.

    It does not allow the four-letter word srvr.
    """
    if connection.recv(4, socket.MSG_PEEK) == b"srvr":
        connection.recv(4)
        connection.sendall(b"srvr is not executed because it is not in the whitelist.\n")
        return
    _serve_empty(connection, [])


def knows_less_than_it_says(asked: list[int]) -> Answer:
    """An empty ZooKeeper before 3.6 that srvr tells to be 3.9; `asked` takes the operations of sessions."""

    def answer(connection: socket.socket) -> None:
        if connection.recv(4, socket.MSG_PEEK) == b"srvr":
            connection.recv(4)
            connection.sendall(b"Zookeeper version: 3.9.5-fake, built on a day\n")
            return
        _serve_empty(connection, asked)

    return answer


def _serve_empty(connection: socket.socket, asked: list[int]) -> None:
    accepts_session(connection)
    while True:
        xid, opcode = struct.unpack_from("!ii", request(connection))
        asked.append(opcode)
        error = {22: -6, 106: -6, 4: -101, 8: -101}.get(opcode, 0)
        connection.sendall(struct.pack("!iiqi", 16, xid, 1, error))
        if error == -6:
            return
