"""Turns: so many requests are worked on at once, each on a thread of its own; the others wait.

Addresses have their turns in rotation, however many requests each has waiting. On the event loop only.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from dataclasses import dataclass

from zkdash.configuration.limits import Limits
from zkdash.door.places import Visit

_JUST_NOW_S = 0.1


@dataclass
class Work:
    """How many `requests` are worked on now; counted on the event loop, read from any thread."""

    requests: int = 0
    _ended: float = 0.0

    def end(self) -> None:
        self.requests -= 1
        self._ended = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether a request is worked on, or was just now: whoever asks often is not between two of them."""
        return self.requests > 0 or time.monotonic() - self._ended < _JUST_NOW_S


WORK = Work()


class Turns:
    """The turns of one process. An address of None is a proxy's own, which is not limited by itself."""

    def __init__(self, limits: Limits) -> None:
        self._most, self._most_of_address = limits.requests, limits.requests_per_address
        self._taken = 0
        self._by_address: Counter[str] = Counter()
        # In the order of rotation; an address is in it as long as it waits.
        self._waiting: dict[str | None, deque[asyncio.Future[None]]] = {}

    @property
    def taken(self) -> int:
        return self._taken

    async def take(self, address: str | None, limit_s: float) -> bool:
        """Wait for a turn, which `give` ends; False where none came in time."""
        if self._free(address) and address not in self._waiting:
            self._begin(address)
            return True
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(turn)
        try:
            async with asyncio.timeout(limit_s):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self.give(address)
            else:
                self._forget(address, turn)
            if isinstance(error, TimeoutError):
                return False
            raise
        return True

    def give(self, address: str | None) -> None:
        """End a turn, and begin the next."""
        self._taken -= 1
        WORK.end()
        if address is not None:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]
        for following in tuple(self._waiting):
            if self._free(following) and self._next(following):
                break

    def _next(self, address: str | None) -> bool:
        """Begin the oldest of an address, which goes behind the others; False where it waits no more."""
        waiting, turn = self._waiting.pop(address), None
        while waiting and turn is None:
            oldest = waiting.popleft()
            turn = None if oldest.done() else oldest
        if waiting:
            self._waiting[address] = waiting
        if turn is not None:
            self._begin(address)
            turn.set_result(None)
        return turn is not None

    def _free(self, address: str | None) -> bool:
        if self._taken >= self._most:
            return False
        return address is None or self._by_address[address] < self._most_of_address

    def _begin(self, address: str | None) -> None:
        self._taken += 1
        WORK.requests += 1
        if address is not None:
            self._by_address[address] += 1

    def _forget(self, address: str | None, turn: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(address)
        if waiting is not None and turn in waiting:
            waiting.remove(turn)
            if not waiting:
                del self._waiting[address]


class Turn:
    """The turn of one visit."""

    def __init__(self, turns: Turns, visit: Visit, limit_s: float) -> None:
        self._turns, self._visit, self._limit_s = turns, visit, limit_s
        self._begun = False

    async def begin(self) -> bool:
        """Wait for it; False where it did not come in time."""
        self._begun = await self._turns.take(self._visit.address, self._limit_s)
        if not self._begun:
            self._visit.tell("turn_s")
        return self._begun

    def end(self) -> None:
        """End it, if it has begun."""
        if self._begun:
            self._begun = False
            self._turns.give(self._visit.address)
