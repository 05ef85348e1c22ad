"""What goes over the socket: a request, and its answer. Each is MessagePack behind its length."""

from __future__ import annotations

import socket
import struct
import time
from typing import Final, TypeVar

import msgspec
from msgspec.msgpack import Decoder

_LENGTH: Final = struct.Struct("!I")
# More than any page, its JSON or its CSV has.
MOST_BYTES: Final = 64 * 2**20


class Question(msgspec.Struct, frozen=True):
    """A request that was let in: `target` is its path, unquoted, `headers` are CGI's names without HTTP_.

    `clusters` are the names of those that whoever asks can go to.
    """

    method: str
    target: str
    query: str
    scheme: str
    remote: str
    headers: dict[str, str]
    clusters: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """What it is answered with; `failed` says why it is not, and that the process ends now."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    failed: str = ""


Message = TypeVar("Message", Question, Answer)
# By these a message is received. Made here: two threads must not be the first to use a type.
QUESTIONS: Final = Decoder(Question)
ANSWERS: Final = Decoder(Answer)


class ClosedError(ConnectionError):
    """The other process is gone, or does not speak as it should."""


def send(connection: socket.socket, message: Question | Answer, deadline: float | None = None) -> None:
    """Send a message, by a moment of `time.monotonic`. Raises TimeoutError, OSError."""
    packed = msgspec.msgpack.encode(message)
    connection.settimeout(_left(deadline))
    connection.sendall(_LENGTH.pack(len(packed)) + packed)


def receive(connection: socket.socket, decoder: Decoder[Message], deadline: float | None = None) -> Message:
    """The next message, by a moment of `time.monotonic`. Raises ClosedError, TimeoutError, OSError."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size, deadline))
    if length > MOST_BYTES:
        raise ClosedError(f"a message of {length} bytes")
    try:
        return decoder.decode(_exactly(connection, length, deadline))
    except msgspec.MsgspecError as error:
        raise ClosedError(str(error)) from error


def _exactly(connection: socket.socket, length: int, deadline: float | None) -> bytes:
    received = bytearray()
    while len(received) < length:
        connection.settimeout(_left(deadline))
        some = connection.recv(min(length - len(received), 2**20))
        if not some:
            raise ClosedError("it ended")
        received += some
    return bytes(received)


def _left(deadline: float | None) -> float | None:
    """Seconds until then. Raises TimeoutError where it is over."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
