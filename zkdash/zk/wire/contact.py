# ruff: noqa: SLF001 - kazoo's private names are what this module is about
"""A session whose watch events and replies go to one queue; with `dialling` all that knows kazoo's privates.

kazoo keeps the session (handshake, authentication, moving between servers, retrying for ever). The
connection itself is pumped here, because kazoo's own pump does four selects a request, takes a 2 GiB frame
on trust, never notices a frozen connection while requests are being sent, and knows only one-shot watches.
The I/O thread only moves bytes: replies and events are handed on undecoded, in the order they arrived.

Pinned to kazoo 2.11.0 by a test, because these names are private: ConnectionHandler._connect,
_connect_attempt, _expand_client_hosts, _read, _read_sock, _write_sock, _socket; KazooClient._connection,
_conn_retry, _session_callback, _state, _stopped, _session_id, _session_timeout, last_zxid.
"""

from __future__ import annotations

import collections
import itertools
import logging
import math
import selectors
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import (
    AuthFailedError,
    SessionExpiredError,
    WriterNotClosedException,
)
from kazoo.protocol.connection import STOP_CONNECTING
from kazoo.protocol.states import KeeperState
from kazoo.retry import KazooRetry

from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.identity import Identity
from zkdash.zk.wire import dialling, jute, stream

_MAX_HANDSHAKE = 64 * 1024
_RECV = 512 * 1024
_CLOSE_LIMIT_S = 0.5
_STEP_S = 0.1
# TLS 1.3 may have to answer a change of keys before it can go on: the next turn does it
_NOT_YET = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

log = logging.getLogger(__name__)


class _Threads(dialling.Threads):
    """kazoo's threading without its two callback threads, which nothing here uses."""

    def start(self) -> None:
        """Start nothing."""

    def stop(self) -> None:
        """Stop nothing."""


class _Outgoing(NamedTuple):
    generation: int
    write: Callable[[stream.Stream], None]


class _Connection(dialling.Connection):
    """kazoo's connection with our pump."""

    _socket: Any

    def __init__(
        self, client: KazooClient, identity: Identity, *, deliver: stream.Deliver, floor: int
    ) -> None:
        super().__init__(client, identity)
        self.deliver = deliver
        self.seen = floor
        self.outgoing: collections.deque[_Outgoing] = collections.deque()
        self._generations = itertools.count(1)

    def zk_loop(self) -> None:
        try:
            super().zk_loop()
        finally:
            self.deliver([stream.Ended()])

    def _expand_client_hosts(self) -> list[tuple[str, str, int]]:
        hosts: list[tuple[str, str, int]] = super()._expand_client_hosts()
        resolved = {host for host, _, _ in hosts}
        missing = [(host, port) for host, port in self.client.hosts if host not in resolved]
        if missing:
            self.deliver(
                [stream.Dropped(0, _address(*server), stream.Cause.UNRESOLVED, "") for server in missing]
            )
        return hosts

    def _connect_attempt(self, host: str, hostip: str, port: int, retry: KazooRetry) -> object:
        client, server, generation = self.client, _address(host, port), 0
        self._socket = None
        if client._state != KeeperState.CONNECTING:
            client._session_callback(KeeperState.CONNECTING)
        try:
            # A server that lags behind what we have seen refuses us, so that no reply is older than the last.
            client.last_zxid = self.seen
            read_timeout_ms, _ = self._connect(host, hostip, port)
            retry.reset()
            generation = next(self._generations)
            self.outgoing.clear()
            session_s = read_timeout_ms * 1.5 / 1000
            peer = (hostip, port)
            self.deliver([stream.Connected(generation, server, peer, client._session_id, session_s, host)])
            self._pump(generation, read_timeout_ms / 1000)
        except AuthFailedError:
            self.deliver([stream.AuthFailed(server)])
            client._session_callback(KeeperState.AUTH_FAILED)
            return STOP_CONNECTING
        except SessionExpiredError:
            retry.reset()
            client._session_callback(KeeperState.EXPIRED_SESSION)
            self.deliver([stream.Expired()])
        except Exception as error:
            # Whatever a hostile server made of us: kazoo's thread must live on and try again
            cause, detail = dialling.explain(error)
            client._session_callback(KeeperState.CONNECTING)
            self.deliver([stream.Dropped(generation, server, cause, detail)])
        finally:
            if self._socket is not None:
                self._socket.close()
        return STOP_CONNECTING if client._stopped.is_set() else None

    def _read(self, length: int, timeout: float) -> bytes:
        """Read a part of the handshake; kazoo's takes any length that the other side announces."""
        if not 0 <= length <= _MAX_HANDSHAKE:
            raise stream.BrokenError(stream.Cause.NOT_ZOOKEEPER, "")
        parts = bytearray()
        limit = time.monotonic() + min(timeout, dialling.LIMIT_S)
        while len(parts) < length:
            if time.monotonic() > limit or self.client._stopped.is_set():
                raise stream.BrokenError(stream.Cause.TIMED_OUT, "")
            with self._socket_error_handling():
                if not self.handler.select([self._socket], [], [], _STEP_S)[0]:
                    continue
                try:
                    chunk = self._socket.recv(length - len(parts))
                except _NOT_YET:
                    continue
                if not chunk:
                    raise stream.BrokenError(stream.Cause.CLOSED, "")
                parts += chunk
        return bytes(parts)

    def _pump(self, generation: int, read_timeout: float) -> None:
        """Move bytes until the connection ends; a whole `read_timeout` of silence ends it too."""
        frames, ping_after = stream.Stream(generation), read_timeout / 2
        heard = sent = time.monotonic()
        closing: float | None = None
        with selectors.DefaultSelector() as selector, self._socket_error_handling():
            selector.register(self._read_sock, selectors.EVENT_READ)
            selector.register(self._socket, selectors.EVENT_READ)
            while closing is None or (not frames.closed and time.monotonic() < closing):
                until = min(sent + ping_after, heard + read_timeout, closing or math.inf)
                ready = self._wait(selector, frames, until)
                if self._socket in ready and self._receive(frames):
                    heard = time.monotonic()
                now = time.monotonic()
                if self.outgoing or now >= sent + ping_after:
                    self._write_out(frames)
                    sent = now
                if closing is None and self.client._stopped.is_set():
                    frames.write(jute.CLOSE, b"", None)
                    closing = now + _CLOSE_LIMIT_S
                self._flush(frames)
                if now - heard >= read_timeout:
                    raise stream.BrokenError(stream.Cause.SILENT, f"{read_timeout:.1f}")
        self.client._session_callback(KeeperState.CLOSED)

    def _wait(self, selector: selectors.BaseSelector, frames: stream.Stream, until: float) -> set[Any]:
        """Wait for bytes, room to write what is left, or a wake-up by `Contact.send`, at most until then."""
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if frames.written else 0)
        if selector.get_key(self._socket).events != wanted:
            selector.modify(self._socket, wanted)
        ready = {
            key.fileobj
            for key, mask in selector.select(max(until - time.monotonic(), 0.0))
            if mask & selectors.EVENT_READ
        }
        if self._read_sock in ready:
            self._read_sock.recv(4096)
        return ready

    def _receive(self, frames: stream.Stream) -> bool:
        """Take what has arrived; False where it was nothing after all."""
        try:
            chunk = self._socket.recv(_RECV)
            if chunk and isinstance(self._socket, ssl.SSLSocket):
                chunk += self._records(_RECV - len(chunk))
        except _NOT_YET:
            return False
        if not chunk:
            raise stream.BrokenError(stream.Cause.CLOSED, "")
        try:
            items = frames.feed(chunk)
        finally:
            self.seen = max(self.seen, frames.zxid)
        if items:
            self.deliver(items)
        return True

    def _records(self, room: int) -> bytearray:
        """Further TLS records: recv takes one of 16 KiB at most, and what it leaves select does not see."""
        taken = bytearray()
        while room > len(taken) or self._socket.pending():
            try:
                chunk = self._socket.recv(_RECV)
            except _NOT_YET:
                break
            if not chunk:
                break  # the next recv says so again
            taken += chunk
        return taken

    def _write_out(self, frames: stream.Stream) -> None:
        """Queue what the apply thread asked for on this connection, or a ping where it asked for nothing."""
        wrote = False
        while self.outgoing:
            request = self.outgoing.popleft()
            if request.generation == frames.generation:
                request.write(frames)
                wrote = True
        if not wrote:
            frames.ping()

    def _flush(self, frames: stream.Stream) -> None:
        try:
            while frames.written:
                del frames.written[: self._socket.send(frames.written)]
        except _NOT_YET:
            return


class Contact:
    """One session with an ensemble. Everything that happens to it comes through `deliver`, on the I/O thread.

    `floor` is the zxid that a server must have reached to be accepted, 0 for any.
    """

    def __init__(self, config: ClusterConfig, *, deliver: stream.Deliver, floor: int) -> None:
        identity = config.reading
        threads = _Threads(identity.tls)
        self._client = KazooClient(
            hosts=",".join(_address(host, port) for host, port in config.servers),
            timeout=config.session_timeout_s,
            handler=threads,
            auth_data=identity.addauth,
            connection_retry=KazooRetry(
                max_tries=-1, delay=0.1, max_delay=2.0, sleep_func=threads.sleep_func
            ),
            logger=dialling.silent,
        )
        self._connection = _Connection(self._client, identity, deliver=deliver, floor=floor)
        self._client._connection = self._connection

    def start(self) -> None:
        """Begin connecting, and go on for ever."""
        self._client.start_async()

    @property
    def seen(self) -> int:
        """The highest zxid that any answer carried."""
        return self._connection.seen

    def send(self, generation: int, opcode: int, body: bytes, token: Any) -> None:
        """Send a request on the connection `generation`; dropped without an answer if that one is gone."""
        self._post(generation, lambda frames: frames.write(opcode, body, token))

    def send_each(self, generation: int, requests: Sequence[tuple[int, bytes]], token: Any) -> None:
        """Send many requests (opcode, body) in one go, as `send` does; their answers come as one Replies."""
        self._post(generation, lambda frames: frames.write_each(requests, token))

    def _post(self, generation: int, write: Callable[[stream.Stream], None]) -> None:
        self._connection.outgoing.append(_Outgoing(generation, write))
        try:
            self._connection._write_sock.send(b"\0")
        except (AttributeError, OSError):
            log.debug("A request came too late for a connection that is closed")

    def close(self) -> None:
        """End the session and its thread; returns within some seconds, also from a dead server."""
        try:
            self._client.stop()
            self._client.close()
        except WriterNotClosedException:
            log.warning("A connection to ZooKeeper is still resolving a name; its thread ends with it")


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
