"""A request's body, counted while it comes, so that never more of it is kept than its address takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, NamedTuple

from zkdash.configuration.limits import Limits
from zkdash.door import refusals
from zkdash.door.places import Visit

# So much of what comes after a refusal is thrown away, so that the answer is read before the connection ends.
_DISCARDED_BYTES: Final = 2**20
_DISCARDING_S: Final = 0.5


class Refusal(NamedTuple):
    """What is answered instead: an HTTP status, and why in a sentence."""

    status: int
    sentence: str


class Body:
    """The body of one request, of at most `most` bytes."""

    def __init__(
        self,
        headers: Iterable[tuple[bytes, bytes]],
        receive: Callable[[], Awaitable[Any]],
        visit: Visit,
        limits: Limits,
        most: int,
    ) -> None:
        named = dict(headers)
        self._receive, self._visit, self._limits, self._most = receive, visit, limits, most
        self._told = int(named.get(b"content-length", b"0"))
        self._received = 0
        self._until = asyncio.get_running_loop().time() + limits.body_s
        self.complete = not self._told and b"transfer-encoding" not in named
        self._waits = named.get(b"expect", b"").lower() == b"100-continue"

    def foreseen(self) -> Refusal | None:
        """Why it is refused by what its headers say of it, before anything of it is read."""
        return self._judged(self._told)

    async def read(self) -> Any | Refusal:
        """The next message of ASGI, or why no more of it is taken."""
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            self._visit.tell("body_s")
            return Refusal(408, f"What was sent did not come within {self._limits.body_s:g} s.")
        self._received += len(message.get("body", b""))
        self.complete = not message.get("more_body", False)
        return self._judged(self._received) or message

    async def discard(self) -> None:
        """Throw away a little of what still comes: who only sends would not see the answer otherwise."""
        if self._waits and not self._received:
            return
        try:
            async with asyncio.timeout(_DISCARDING_S):
                left = _DISCARDED_BYTES
                while not self.complete and left > 0:
                    message = await self._receive()
                    left -= len(message.get("body", b""))
                    self.complete = not message.get("more_body", False)
        except TimeoutError:
            return

    def _judged(self, size: int) -> Refusal | None:
        if size > self._most:
            self._visit.tell("body_bytes")
            if not self._most:
                return Refusal(413, "This address takes no body; nothing of it was read.")
            return Refusal(413, f"This is longer than the {self._most:,} bytes that this address takes.")
        limit = self._visit.take_body() if size > self._limits.small_form_bytes else ""
        return crowded(limit) if limit else None


def crowded(limit: str) -> Refusal:
    """The answer where there is no place for a request."""
    return Refusal(refusals.status(limit), refusals.sentence(limit))
