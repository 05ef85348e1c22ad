"""One ZooKeeper session of one simulated participant, spoken through kazoo.

Watches queue a task of the event loop and do nothing else. Reads and multis are pipelined: many requests are
sent before the first reply is awaited, as Kafka's own client does.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from kazoo import exceptions
from kazoo.client import KazooClient
from kazoo.protocol import serialization
from kazoo.protocol.states import EventType, KazooState, WatchedEvent
from kazoo.security import OPEN_ACL_UNSAFE

from zkdash.demo.runtime import event_loop

# kazoo tells of every connection; the participant's own reaction is what matters here. Not below "zkdash",
# whose level Django's settings lower.
_kazoo_log = logging.getLogger("kazoo.demo")

CONNECT_LIMIT_S = 5.0
REPLY_LIMIT_S = 20.0
Operation = Any  # of a multi: kazoo's Create, SetData, Delete or CheckVersion


class VersionedData(NamedTuple):
    """A znode's data and the version to compare when it is set."""

    data: bytes
    version: int


class Session:
    """A session at `address` (host:port, with or without a chroot, which is made where it is missing).

    `on_lost` runs on the event loop when ZooKeeper lost sight of the session or may have: whoever holds it
    must start over with a new one.
    """

    def __init__(
        self, address: str, *, loop: event_loop.EventLoop, on_lost: Callable[[], None], timeout_s: float = 6.0
    ) -> None:
        self._loop = loop
        self._on_lost = on_lost
        self._is_open = False
        self._lock = threading.Lock()
        # What runs when a watch fires; ZooKeeper's fire once, and two on one path are one.
        self._handlers: dict[tuple[str, str], event_loop.Task] = {}
        self._client = KazooClient(hosts=address, timeout=timeout_s, logger=_kazoo_log)
        self._client.add_listener(self._state_changed)

    def start(self) -> None:
        """Connect. Raises TimeoutError after 5 s without an answer."""
        self._client.start_async().wait(CONNECT_LIMIT_S)
        if not self._client.connected:
            self.close()
            message = f"no ZooKeeper answered within {CONNECT_LIMIT_S:g} s"
            raise TimeoutError(message)
        self._is_open = True
        if self._client.chroot:
            self._client.ensure_path("/")

    def silence(self) -> None:
        """Stay connected and hear nothing more: what a process that hangs looks like to ZooKeeper."""
        self._is_open = False

    def close(self) -> None:
        """End the session: ZooKeeper removes its ephemerals in the same transaction."""
        self._is_open = False
        self._client.stop()
        self._client.close()

    def get(self, path: str, *, then: event_loop.Task | None = None) -> VersionedData | None:
        """A znode's data, or None where there is none; `then` runs once when it changes, comes or goes."""
        watch = self._watch("data", path, then)
        while True:
            try:
                data, stat = self._client.get(path, watch=watch)
                return VersionedData(data or b"", stat.version)
            except exceptions.NoNodeError:
                if watch is None or self._client.exists(path, watch=watch) is None:
                    return None
                watch = None  # it came meanwhile, and the watch is set

    def get_all(self, paths: Sequence[str]) -> list[VersionedData | None]:
        """Many znodes at once, None for each that is not there."""
        replies = [self._client.get_async(path) for path in paths]
        return [_read(reply) for reply in replies]

    def children(self, path: str, *, then: event_loop.Task | None = None) -> list[str]:
        """Names of a znode's children, sorted; empty also where there is no znode (and then no watch)."""
        try:
            return sorted(self._client.get_children(path, watch=self._watch("children", path, then)))
        except exceptions.NoNodeError:
            self._take_handler("children", path)
            return []

    def created_ms(self, path: str) -> int | None:
        """When a znode was created, in epoch milliseconds by the server's clock; None where there is none."""
        stat = self._client.exists(path)
        return None if stat is None else int(stat.ctime)

    def create(
        self, path: str, data: bytes | None, *, ephemeral: bool = False, sequence: bool = False
    ) -> bool:
        """Create one znode; False where it exists already."""
        try:
            self._client.create(path, data, ephemeral=ephemeral, sequence=sequence)
        except exceptions.NodeExistsError:
            return False
        return True

    def delete(self, path: str) -> None:
        """Delete one znode; nothing happens where there is none."""
        try:
            self._client.delete(path)
        except exceptions.NoNodeError:
            return

    def commit(self, multis: Iterable[Sequence[Operation]]) -> list[Failure | None]:
        """Send many multis in order; each answers None, or what made ZooKeeper refuse the whole of it."""
        replies = []
        for operations in multis:
            transaction = self._client.transaction()
            transaction.operations.extend(operations)
            replies.append(transaction.commit_async())
        return [_failure(reply.get(timeout=REPLY_LIMIT_S)) for reply in replies]

    def create_operation(self, path: str, data: bytes | None, *, ephemeral: bool = False) -> Operation:
        """A create for a multi. `data` None is null, which kazoo's own builder refuses."""
        return serialization.Create(self._rooted(path), data, OPEN_ACL_UNSAFE, 1 if ephemeral else 0)

    def set_operation(self, path: str, data: bytes, version: int) -> Operation:
        """A conditional set for a multi; version -1 compares nothing."""
        return serialization.SetData(self._rooted(path), data, version)

    def delete_operation(self, path: str) -> Operation:
        return serialization.Delete(self._rooted(path), -1)

    def check_operation(self, path: str, version: int) -> Operation:
        return serialization.CheckVersion(self._rooted(path), version)

    def _rooted(self, path: str) -> str:
        return f"{self._client.chroot}{path}"

    def _watch(
        self, kind: str, path: str, then: event_loop.Task | None
    ) -> Callable[[WatchedEvent], None] | None:
        """A watch to set, or None where one is set already: it will run the newest `then`."""
        if then is None:
            return None
        with self._lock:
            is_set = (kind, path) in self._handlers
            self._handlers[kind, path] = then
        if is_set:
            return None

        def fired(event: WatchedEvent) -> None:
            handler = self._take_handler(kind, path)
            if self._is_open and handler is not None and event.type != EventType.NONE:
                self._loop.call_soon(lambda: self._is_open and handler())

        return fired

    def _take_handler(self, kind: str, path: str) -> event_loop.Task | None:
        with self._lock:
            return self._handlers.pop((kind, path), None)

    def _state_changed(self, state: KazooState) -> None:
        """Called on kazoo's thread. kazoo forgets its watches with the connection: start over either way."""
        if self._is_open and state in (KazooState.SUSPENDED, KazooState.LOST):
            self._is_open = False
            self._loop.call_soon(self._on_lost)


class Failure(NamedTuple):
    """Which operation of a multi was refused (its place), and why."""

    at: int
    error: Exception


def _read(reply: Any) -> VersionedData | None:
    try:
        data, stat = reply.get(timeout=REPLY_LIMIT_S)
    except exceptions.NoNodeError:
        return None
    return VersionedData(data or b"", stat.version)


def _failure(results: Sequence[object]) -> Failure | None:
    """ZooKeeper names the real reason at its place and "rolled back" or "inconsistent" at all others."""
    for at, result in enumerate(results):
        if isinstance(result, Exception) and not isinstance(
            result, (exceptions.RolledBackError, exceptions.RuntimeInconsistency)
        ):
            return Failure(at, result)
    return None
