"""All open connections of a process: who may have one more, which ask for nothing, which take no answer.

A connection that waits for a request costs nobody anything to lose. So where there are too many, the one
that waits longest gives way: of the same address where that has its share, else of the address with the most.
On the event loop only.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol

from zkdash.configuration.limits import OF_ADDRESS, Limits
from zkdash.door.addresses import Addresses
from zkdash.door.places import CONNECTIONS
from zkdash.door.refusals import REFUSALS, Refusals

log = logging.getLogger(__name__)

# An answer must get on by so much within `unread_s`.
_PROGRESS_BYTES = 16 * 2**10
_LOOK_EVERY_S = 1.0


class Peer(Protocol):
    """What speaks with the other side."""

    def late(self) -> None:
        """It asked for nothing in time: end the connection."""

    def give_up(self) -> None:
        """End the connection at once, and say nothing more."""


class Connection:
    """One of them."""

    __slots__ = ("address", "peer", "since", "transport", "unread", "unread_since")

    def __init__(self, peer: Peer, transport: asyncio.Transport, address: str | None) -> None:
        self.peer, self.transport, self.address = peer, transport, address
        self.since: float | None = None  # when it began to wait for a request; None while it does not
        self.unread, self.unread_since = 0, 0.0

    def look(self, now: float) -> bool:
        """Note whether what was answered gets on; whether there is any that was not taken yet."""
        unread = self.transport.get_write_buffer_size()
        # More of it is another answer.
        if not unread or unread > self.unread or unread <= self.unread - _PROGRESS_BYTES:
            self.unread, self.unread_since = unread, now
        return bool(unread)


class _Held:
    """The connections of one address; those that wait, the longest first."""

    __slots__ = ("count", "waiting")

    def __init__(self) -> None:
        self.count = 0
        self.waiting: dict[Connection, None] = {}


class Connections:
    """Those of one process."""

    def __init__(self, limits: Limits, addresses: Addresses, refusals: Refusals = REFUSALS) -> None:
        self.limits = limits
        self._addresses = addresses
        self._refusals = refusals
        self._open: set[Connection] = set()
        self._held: defaultdict[str | None, _Held] = defaultdict(_Held)

    def admit(
        self, peer: Peer, transport: asyncio.Transport, client: tuple[str, int] | None, now: float
    ) -> Connection | str:
        """Let one in, which may close another; else the limit that stands in the way."""
        address = self._addresses.of(client)
        limit = self._room(address)
        if limit:
            self.tell(limit, address)
            return limit
        connection = Connection(peer, transport, address)
        self._open.add(connection)
        self._held[address].count += 1
        self.waits(connection, now)
        return connection

    def waits(self, connection: Connection, now: float) -> None:
        """It has been answered, or has begun: from now on it waits for a request."""
        if connection in self._open:
            connection.since = now
            self._held[connection.address].waiting[connection] = None

    def works(self, connection: Connection) -> None:
        """It has asked for something."""
        if connection in self._open:
            connection.since = None
            self._held[connection.address].waiting.pop(connection, None)

    def ended(self, connection: Connection) -> None:
        """The connection has ended, or is about to."""
        if connection not in self._open:
            return
        self.works(connection)
        self._open.remove(connection)
        share = self._held[connection.address]
        share.count -= 1
        if not share.count:
            del self._held[connection.address]

    def tell(self, limit: str, address: str | None) -> None:
        """Something of a connection ran into a limit."""
        self._refusals.tell(limit, address)

    def look(self, now: float) -> None:
        """End what has waited too long, and what takes no answers."""
        for connection in tuple(self._open):
            if connection.since is not None and now - connection.since > self.limits.head_s:
                self.works(connection)
                self.tell("head_s", connection.address)
                connection.peer.late()
        unread = [connection for connection in self._open if connection.look(now)]
        for connection in unread:
            if now - connection.unread_since > self.limits.unread_s:
                self._give_up(connection, "unread_s")
        by_address: defaultdict[str | None, list[Connection]] = defaultdict(list)
        for connection in unread:
            by_address[connection.address].append(connection)
        for address, connections in by_address.items():
            if address is not None:
                self._lighten(connections, f"unread_bytes{OF_ADDRESS}")
        self._lighten(unread, "unread_bytes")

    async def watch(self) -> None:
        """Look again and again, until cancelled."""
        loop = asyncio.get_running_loop()
        every = min(_LOOK_EVERY_S, self.limits.head_s / 4, self.limits.unread_s / 4)
        while True:
            await asyncio.sleep(every)
            try:
                self.look(loop.time())
            except Exception:
                log.exception("Connections could not be looked at; they will be again")

    def _room(self, address: str | None) -> str:
        """Make room for one more of an address; else the limit that stands in the way.

        A proxy speaks for many: it has no share of its own.
        """
        count = self._held[address].count if address is not None and address in self._held else 0
        if address is not None and count >= self.limits.connections_per_address:
            return "" if self._give_way(address) else f"{CONNECTIONS}{OF_ADDRESS}"
        if len(self._open) < self.limits.connections:
            return ""
        others = (address for address, share in self._held.items() if address is not None and share.waiting)
        most = max(others, key=lambda address: self._held[address].count, default=None)
        if most is not None and self._held[most].count > count + 1:
            return "" if self._give_way(most) else CONNECTIONS
        return CONNECTIONS

    def _give_way(self, address: str) -> bool:
        """Close the connection of an address that has waited longest."""
        oldest = next(iter(self._held[address].waiting), None)
        if oldest is None:
            return False
        self.tell("gave_way", address)
        self._close(oldest)
        return True

    def _lighten(self, unread: Iterable[Connection], limit: str) -> None:
        """Give up those that take least of their answers, until what is left is within a limit."""
        still = sorted(
            (connection for connection in unread if connection in self._open),
            key=lambda connection: connection.transport.get_write_buffer_size(),
        )
        total = sum(connection.transport.get_write_buffer_size() for connection in still)
        while total > getattr(self.limits, limit):
            largest = still.pop()
            total -= largest.transport.get_write_buffer_size()
            self._give_up(largest, limit)

    def _give_up(self, connection: Connection, limit: str) -> None:
        self.tell(limit, connection.address)
        self._close(connection)

    def _close(self, connection: Connection) -> None:
        self.ended(connection)
        connection.peer.give_up()
