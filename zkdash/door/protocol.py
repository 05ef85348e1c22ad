"""uvicorn's two protocols with the bounds that it has not: of connections, of heads, of answers not taken.

A connection is counted from when it is made until it is lost, also once it is a WebSocket.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from zkdash.door.bodies import Refusal, crowded
from zkdash.door.connections import Connection, Connections
from zkdash.door.refusals import MALFORMED

# The parser knows no bounds of its own. What follows a body may hold headers too.
_MOST_HEADERS: Final = 100
# Browsers ask for nothing before they were answered; others may, for so much.
_MOST_AHEAD: Final = 8
# Where the process ends: for the request of a connection that was taken a moment before.
_GRACE_S: Final = 0.5


class _TooMuchError(Exception):
    """Raised through the parser, which ends by it."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lost: Callable[[], None] = _nothing

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._lost()

    async def send(self, message: ASGISendEvent) -> None:
        """A refusal with words is a whole answer, which uvicorn would have missed in its log."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True

    def takes_over(self, connection: Connection, connections: Connections) -> None:
        """From now on it speaks on a connection."""
        connection.peer = self
        self._lost = partial(connections.ended, connection)

    def late(self) -> None:
        """It has asked for this socket: it is never late."""

    def give_up(self) -> None:
        self.disconnected = True
        self.transport.abort()


class RequestProtocol(HttpToolsProtocol):
    """HTTP/1.1, of one connection."""

    def __init__(self, connections: Connections, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._all = connections
        self._connection: Connection | None = None
        self._in_head = True
        self._unheard = 0  # bytes that were read and led to nothing yet
        self._asked: deque[RequestResponseCycle] = deque()  # what has no whole answer yet, the oldest first
        self._too_much = False
        self._is_ending = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        admitted = self._all.admit(self, transport, self.client, self.loop.time())
        if isinstance(admitted, Connection):
            self._connection = admitted
        else:
            self._end(crowded(admitted))

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._ended()

    def data_received(self, data: bytes) -> None:
        self._unheard += len(data)
        super().data_received(data)
        if self._unheard > self._all.limits.head_bytes and not self.transport.is_closing():
            self._end_too_much()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= _MOST_HEADERS:
            self._too_much = True
            raise _TooMuchError
        if not self._in_head:
            self._unheard = 0
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        self._too_much = size > self._all.limits.head_bytes or len(self.pipeline) >= _MOST_AHEAD
        if self._too_much or not self.url.isascii() or (self._asked and self._should_upgrade()):
            raise _TooMuchError
        self._in_head, self._unheard = False, 0
        if self._connection is not None:
            self._all.works(self._connection)
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:
            self._asked.append(self.cycle)

    def on_body(self, body: bytes) -> None:
        self._unheard = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unheard = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._asked.popleft()
        if not self._asked and self._connection is not None:
            self._all.waits(self._connection, self.loop.time())

    def handle_websocket_upgrade(self) -> None:
        super().handle_websocket_upgrade()
        protocol = self.transport.get_protocol()
        if isinstance(protocol, SocketProtocol) and self._connection is not None:
            protocol.takes_over(self._connection, self._all)
            if not protocol.handshake_initiated:  # its parser, which takes shorter lines, waits for ever
                self._all.tell(MALFORMED, self._address)
                self._end(Refusal(400, "No WebSocket is opened by this."))
            self._connection = None

    def send_400_response(self, msg: str) -> None:
        if self._too_much:
            self._end_too_much()
            return
        self._all.tell(MALFORMED, self._address)
        self._silence()
        super().send_400_response(msg)

    def give_up(self) -> None:
        self._silence()
        self.transport.abort()

    def shutdown(self) -> None:
        """The process ends. Who was let in and has asked for nothing yet is heard: the request is on its way.

        A proxy must not send a form to another process, once it has written it to this one.
        """
        protocol: Any = self.transport.get_protocol()
        if self.transport.is_closing():
            return
        if protocol is not self:  # it has become a socket meanwhile
            protocol.shutdown()
        elif self.cycle is None and not self._is_ending:
            self._is_ending = True
            self.loop.call_later(_GRACE_S, self.shutdown)
        else:
            super().shutdown()

    @property
    def _address(self) -> str | None:
        return self._connection.address if self._connection is not None else None

    def late(self) -> None:
        """End the connection; a client that has begun a request is told why."""
        if self._unheard:
            self._end(Refusal(408, f"No whole request came within {self._all.limits.head_s:g} s."))
        else:
            self.transport.close()

    def _end_too_much(self) -> None:
        self._all.tell("head_bytes", self._address)
        most = self._all.limits.head_bytes
        self._end(Refusal(431, f"A request's head may have {_MOST_HEADERS} headers and {most:,} bytes."))

    def _end(self, refusal: Refusal) -> None:
        self._silence()
        if self.transport.is_closing():
            return
        status, sentence = refusal
        text = f"{sentence}\n".encode()
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(text)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + text)
        self.transport.close()

    def _silence(self) -> None:
        """Nothing more is answered to what was asked, which may not know yet that nobody is there."""
        for cycle in self._asked:
            cycle.disconnected = True
            cycle.message_event.set()

    def _ended(self) -> None:
        if self._connection is not None:
            self._all.ended(self._connection)


def _nothing() -> None:
    """What a WebSocket is told to that nobody counts."""
