"""The sockets on which simulated brokers answer: one thread with an event loop for all of a simulation."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from zkdash.demo.protocol.requests import RefusedRequestError
from zkdash.demo.runtime import ports

HOST = "127.0.0.1"

_LIMIT_S = 30.0
_ATTEMPTS = 5
_REQUEST_MAX_BYTES = 1 << 20
_LENGTH = struct.Struct("!i")

T = TypeVar("T")
Answer = Callable[[bytes], bytes]


class ServerThread:
    """The thread. `stop` expects every listener to be closed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="demo-listeners", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; nothing where none was started."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the loop and wait for the end. Raises RuntimeError while there is none."""
        if self._loop is None:
            work.close()
            message = "the thread of the listeners does not run"
            raise RuntimeError(message)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_LIMIT_S)


class SocketServer:
    """One broker's socket: open while the broker runs, and as a rule always on the same port."""

    def __init__(self, loop: ServerThread, answer: Answer) -> None:
        self._loop = loop
        self._answer = answer
        self._port: int | None = None
        self._socket: socket.socket | None = None
        self._arriving: set[asyncio.Task[object]] = set()
        self._connections: set[asyncio.Transport] = set()

    def open(self) -> tuple[str, int]:
        """Listen, and return where. Raises OSError where no port is to be had."""
        if self._socket is None:
            bound = self._bound()
            try:
                self._loop.run(self._listen(bound))
            except BaseException:
                bound.close()
                raise
            self._socket = bound
        return HOST, self._port or 0

    def close(self) -> None:
        """Listen no more, and drop all connections, as a process does that ends."""
        closed, self._socket = self._socket, None
        if closed is not None:
            self._loop.run(self._drop(closed))

    def _bound(self) -> socket.socket:
        """A socket on the port of before, or on another where somebody took that."""
        for _ in range(_ATTEMPTS):
            port = self._port or ports.free()[0]
            self._port = None
            try:
                bound = socket.create_server((HOST, port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                self._port = port
                bound.setblocking(False)
                return bound
        raise OSError(errno.EADDRINUSE, f"{_ATTEMPTS} ports of {HOST} in a row were taken")

    # --- on the loop

    # Connections are accepted here and not by loop.create_server, whose close() loses those that are accepted
    # in that moment: to 3.11 they stay open for ever.

    async def _listen(self, bound: socket.socket) -> None:
        asyncio.get_running_loop().add_reader(bound, self._accept, bound)

    def _accept(self, bound: socket.socket) -> None:
        try:
            accepted, _ = bound.accept()
        except OSError:
            return  # who knocked is gone again
        accepted.setblocking(False)
        loop = asyncio.get_running_loop()
        arrival: asyncio.Task[object] = loop.create_task(
            loop.connect_accepted_socket(lambda: _Connection(self._answer, self._connections), accepted)
        )
        self._arriving.add(arrival)
        arrival.add_done_callback(self._arriving.discard)

    async def _drop(self, bound: socket.socket) -> None:
        asyncio.get_running_loop().remove_reader(bound)
        bound.close()
        await asyncio.gather(*self._arriving, return_exceptions=True)
        for connection in self._connections:
            connection.abort()


class _Connection(asyncio.Protocol):
    """Answers request after request. One that is refused ends the connection."""

    def __init__(self, answer: Answer, connections: set[asyncio.Transport]) -> None:
        self._answer = answer
        self._connections = connections
        self._received = bytearray()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self._transport)

    def connection_lost(self, _error: Exception | None) -> None:
        self._connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        try:
            while (request := self._next()) is not None:
                answer = self._answer(request)
                self._transport.write(_LENGTH.pack(len(answer)) + answer)
        except RefusedRequestError:
            self._transport.close()

    def pause_writing(self) -> None:
        """The other side does not read its answers: it may ask nothing more until it does."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._transport.resume_reading()

    def _next(self) -> bytes | None:
        """The next whole request. Raises RefusedRequestError for a length that no request has."""
        if len(self._received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._received)
        if not 0 <= length <= _REQUEST_MAX_BYTES:
            raise RefusedRequestError(f"a request of {length} bytes is announced")
        end = _LENGTH.size + length
        if len(self._received) < end:
            return None
        request = bytes(self._received[_LENGTH.size : end])
        del self._received[:end]
        return request
