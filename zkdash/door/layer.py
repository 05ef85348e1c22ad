"""The layer of ASGI in front of Django and Channels: lets in what there are places for, and no body too long.

What is refused is answered here, in a sentence, before anything of it is read or kept.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from zkdash.configuration.limits import Limits
from zkdash.door.addresses import Addresses
from zkdash.door.bodies import Body, Refusal, crowded
from zkdash.door.places import CONNECTIONS, SOCKETS, Floor, Visit
from zkdash.door.turns import Turn, Turns

# Scopes and messages are dictionaries whose shapes ASGI tells apart by their "type".
Scope = Any
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
# The most bytes that a body may have, by the request's method and path.
MostBytes = Callable[[str, str], int]

TRY_AGAIN_LATER = 1013
_DENIAL: Final = "websocket.http.response"
_AGAIN_S: Final = b"5"


class Door:
    """An ASGI application that lets others in to another."""

    def __init__(
        self, within: Application, limits: Limits, most_bytes: MostBytes, *, proxies: Sequence[str] = ()
    ) -> None:
        self._within = within
        self._limits = limits
        self._most_bytes = most_bytes
        self._addresses = Addresses(proxies)
        self._floor = Floor(limits)
        self._turns = Turns(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request or socket in, or refuse it; what else there is of ASGI passes."""
        if scope["type"] not in {"http", "websocket"}:
            await self._within(scope, receive, send)
            return
        visit = self._floor.visit(scope, self._addresses.of(scope.get("client")))
        too_long = self._too_long(scope["path"], visit)
        try:
            if scope["type"] == "websocket":
                await self._socket(scope, receive, send, visit, too_long)
            else:
                await self._request(scope, receive, send, visit, too_long)
        finally:
            visit.end()

    def _too_long(self, path: str, visit: Visit) -> Refusal | None:
        """Why an address is refused by its path alone: nobody is to work on one without end."""
        limits, names = self._limits, path.count("/")
        if len(path) > limits.path_characters:
            visit.tell("path_characters")
            why = f"has {len(path):,} characters; {limits.path_characters:,} are the most"
        elif names > limits.path_names:
            visit.tell("path_names")
            why = f"has {names:,} names; {limits.path_names:,} are the most"
        else:
            return None
        return Refusal(414, f"The path of this address {why}. Ask for one that is shorter.")

    async def _socket(
        self, scope: Scope, receive: Receive, send: Send, visit: Visit, refusal: Refusal | None
    ) -> None:
        if refusal is None and (limit := visit.enter(SOCKETS)):
            refusal = crowded(limit)
        if refusal is None:
            await self._within(scope, receive, send)
        elif _DENIAL in (scope.get("extensions") or {}):
            await _answer(scope, send, refusal, _DENIAL)
        else:
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})

    async def _request(
        self, scope: Scope, receive: Receive, send: Send, visit: Visit, refusal: Refusal | None
    ) -> None:
        most = self._most_bytes(scope["method"], scope["path"]) if refusal is None else 0
        body = Body(scope["headers"], receive, visit, self._limits, most)
        limit = visit.enter(CONNECTIONS)
        refusal = refusal or (crowded(limit) if limit else body.foreseen())
        if refusal is None:
            turn = Turn(self._turns, visit, self._limits.turn_s)
            exchange = _Exchange(body, turn, receive, send)
            try:
                await self._within(scope, exchange.receive, exchange.send)
            finally:
                turn.end()
            refusal = exchange.refusal
        if refusal is not None:
            await _answer(scope, send, refusal, "http.response", body)


class _Exchange:
    """A request that was let in. It has its turn from when its body is there until its answer begins."""

    def __init__(self, body: Body, turn: Turn, receive: Receive, send: Send) -> None:
        self._body, self._turn, self._receive, self._send = body, turn, receive, send
        self._reads, self._answers = True, False
        self._refused: Refusal | None = None

    @property
    def refusal(self) -> Refusal | None:
        """What is to be answered instead, as long as nothing is."""
        return None if self._answers else self._refused

    async def receive(self) -> Any:
        """The next message; where the rest is refused, that its sender is gone."""
        if self._refused is not None:
            return {"type": "http.disconnect"}
        if not self._reads:
            return await self._receive()
        message = await self._body.read()
        if isinstance(message, Refusal):
            return self._refuse(message)
        self._reads = message.get("more_body", False)
        if not self._reads and message["type"] == "http.request" and not await self._turn.begin():
            return self._refuse(Refusal(503, "Too much is asked for at once. Come back later."))
        return message

    async def send(self, message: Any) -> None:
        """Pass an answer on: from its beginning on it is written, and no longer worked on."""
        self._answers = True
        self._turn.end()
        await self._send(message)

    def _refuse(self, refusal: Refusal) -> Any:
        self._refused = refusal
        return {"type": "http.disconnect"}


async def _answer(scope: Scope, send: Send, refusal: Refusal, kind: str, body: Body | None = None) -> None:
    """Say why in words, or in JSON for who asked for it; the connection ends with it."""
    status, sentence = refusal
    wants_json = b"application/json" in dict(scope["headers"]).get(b"accept", b"")
    text = (json.dumps({"error": sentence}) if wants_json else f"{sentence}\n").encode()
    headers = [
        (b"content-type", b"application/json" if wants_json else b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", b"default-src 'none'"),
        (b"x-content-type-options", b"nosniff"),
        (b"connection", b"close"),
        *([(b"retry-after", _AGAIN_S)] if status in {429, 503} else []),
    ]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": text, "more_body": body is not None})
    if body is not None:
        if not body.complete:
            await body.discard()
        await send({"type": f"{kind}.body", "body": b"", "more_body": False})
