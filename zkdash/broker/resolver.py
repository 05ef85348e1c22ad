"""Names to addresses, without ever waiting longer than asked: getaddrinfo knows no time limit.

A lookup runs on a daemon thread of its own, so that one which hangs holds up neither others nor the end of
the process; whoever asks for a name that is being looked up joins that lookup. Where hundreds of clusters ask
and no name comes, so many threads hang at most, and further lookups wait for theirs.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

MOST: Final = 64  # lookups of a process at once

Lookup = Callable[[str], list[str]]


def addresses(host: str) -> list[str]:
    """The addresses of a name, in the order to try. Raises OSError (gaierror), UnicodeError."""
    infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in infos))


log = logging.getLogger(__name__)


class _Lookups:
    """The lookups of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Callable[[], None]] = deque()
        self._threads = 0

    def start(self, host: str, lookup: Callable[[], None]) -> None:
        """Have it done, now or when another one ends."""
        with self._lock:
            if self._threads == MOST:
                self._waiting.append(lookup)
                return
            self._threads += 1
        threading.Thread(target=self._run, args=(lookup,), name=f"resolve {host}", daemon=True).start()

    def _run(self, lookup: Callable[[], None] | None) -> None:
        while lookup is not None:
            try:
                lookup()
            except Exception:
                log.exception("A lookup failed")
            with self._lock:
                lookup = self._waiting.popleft() if self._waiting else None
                if lookup is None:
                    self._threads -= 1


_lookups = _Lookups()


class Resolver:
    """Lookups of one event loop; call it only there."""

    def __init__(self, lookup: Lookup = addresses) -> None:
        self._lookup = lookup
        self._running: dict[str, asyncio.Future[list[str]]] = {}

    async def resolve(self, host: str) -> list[str]:
        """Addresses of `host`, at least one. Raises OSError; cancelling stops the wait, not the lookup."""
        if _is_address(host):
            return [host]
        future = self._running.get(host)
        if future is None:
            future = self._start(host)
        addresses = await asyncio.shield(future)
        if not addresses:
            raise OSError(f"the name {host} has no address")
        return addresses

    def _start(self, host: str) -> asyncio.Future[list[str]]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[str]] = loop.create_future()
        self._running[host] = future
        # whoever asked may be gone by then
        future.add_done_callback(lambda done: done.cancelled() or done.exception())

        def settle(addresses: list[str], error: OSError | None) -> None:
            self._running.pop(host, None)
            if future.done():
                return
            if error is None:
                future.set_result(addresses)
            else:
                future.set_exception(error)

        def run() -> None:
            addresses: list[str] = []
            error: OSError | None = None
            try:
                addresses = self._lookup(host)
            except OSError as failed:
                error = failed
            except UnicodeError:
                error = OSError(f"{host!r} is not a host name")
            with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
                loop.call_soon_threadsafe(settle, addresses, error)

        _lookups.start(host, run)
        return future


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
