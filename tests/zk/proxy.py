"""A TCP proxy on 127.0.0.1 whose connections can be cut, frozen and refused."""

from __future__ import annotations

import contextlib
import socket
import threading

from zkdash.demo.runtime import ports


class Proxy:
    """Forwards a port of its own to `target`, one on 127.0.0.1, until told otherwise.

    `sent` holds what each connection's client sent so far, in the order of connecting.
    """

    def __init__(self, target: int, *, port: int | None = None) -> None:
        self.target = target
        self._lock = threading.Lock()
        self._pairs: list[_Pair] = []
        self._listener: socket.socket | None = None
        self.port = port or ports.free()[0]  # it stays ours while it is cut
        self.sent: list[bytearray] = []
        self.restore()

    def restore(self) -> None:
        """Accept connections, and forward all of them."""
        if self._listener is None:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self.port))
            listener.listen()
            self._listener = listener
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        for pair in self._pairs:
            pair.flow()

    def freeze(self, *, requests: bool = True) -> None:
        """Let the connections of now stay open, and silent both ways; new ones are forwarded.

        Without `requests` only answers are held back. What is held back flows on once restored, and is
        lost where it is cut.
        """
        for pair in self._pairs:
            pair.answers.clear()
            if requests:
                pair.requests.clear()

    def cut(self) -> None:
        """Close every connection, and refuse new ones until restored."""
        with self._lock:
            listener, self._listener = self._listener, None
            pairs, self._pairs = self._pairs, []
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for pair in pairs:
            pair.close()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target), timeout=60.0)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            with self._lock:
                if self._listener is not listener:  # cut while this one connected
                    client.close()
                    server.close()
                    return
                self.sent.append(bytearray())
                self._pairs.append(_Pair(client, server, self.sent[-1]))


class _Pair:
    """One forwarded connection."""

    def __init__(self, client: socket.socket, server: socket.socket, sent: bytearray) -> None:
        self._sockets = (client, server)
        self.requests, self.answers = threading.Event(), threading.Event()
        self.flow()
        for ends in ((client, server, self.requests, sent), (server, client, self.answers, None)):
            threading.Thread(target=self._forward, args=ends, daemon=True).start()

    def flow(self) -> None:
        self.requests.set()
        self.answers.set()

    def close(self) -> None:
        for end in self._sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.flow()  # into nothing: what was held back ends with its threads

    def _forward(
        self, source: socket.socket, target: socket.socket, flows: threading.Event, copy: bytearray | None
    ) -> None:
        try:
            while chunk := source.recv(65536):
                flows.wait()
                if copy is not None:
                    copy += chunk
                target.sendall(chunk)
        except OSError:
            pass
        self.close()
