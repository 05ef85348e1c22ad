"""The socket of a page: lets the hub write to it, and holds nothing of the cluster itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http import parse_cookie

from zkdash import live
from zkdash.access import holders, rights, sessions
from zkdash.access.rights import Rights
from zkdash.door import places
from zkdash.live import engine
from zkdash.live.parts import PageKey
from zkdash.live.sockets.hub import Hub
from zkdash.live.sockets.protocols import Socket, Who
from zkdash.web.frame.page import Page
from zkdash.web.overview import clusters
from zkdash.web.serving import tokens
from zkdash.web.serving.authorizer import NOT_ALLOWED
from zkdash.web.visitors import bearer, gate

_TRY_AGAIN = 1013
AWAY = "zkdash's database does not answer, and did not tell lately who may see this"


class PageConsumer(AsyncWebsocketConsumer):
    """One browser that looks at one page."""

    joined: tuple[Hub, PageKey] | None = None

    async def connect(self) -> None:
        """Join the page's room; where nothing watches that cluster the browser is told to try again.

        Closed with 4403, after which it does not come back, where its person may not see the page.
        """
        await self.accept()
        running = engine.configured()
        query = self.scope["query_string"].decode("ascii", "replace")
        holder = _holder(self.scope["headers"])
        rights = await _rights(holder)
        if rights is None:
            await self.close(_TRY_AGAIN, AWAY)
            return
        key = gate.seen_by(_key(self.scope["url_route"]["kwargs"], query), rights)
        if key is None:
            await self.close(NOT_ALLOWED)
            return
        if places.enter(self.scope, places.SOCKETS, rights.user_id):
            await self.close(_TRY_AGAIN)
            return
        if running is None or (key.cluster is not None and live.current(key.cluster) is None):
            await self.close(_TRY_AGAIN)
            return
        token = parse_qs(query).get("from", [""])[0]
        await self._join(running.hub, key, tokens.seen(key, token), holder, rights.user_id)

    async def _join(self, hub: Hub, key: PageKey, seen: str, holder: str, person: int | None) -> None:
        """Join a page's room, or be told to try again where there is no place."""
        who = Who(places.address(self.scope), person)
        if limit := hub.join(key, cast("Socket", self), seen, holder, who):
            places.tell(self.scope, limit)
            await self.close(_TRY_AGAIN)
            return
        self.joined = (hub, key)

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 - Channels' signature
        if self.joined is not None:
            hub, key = self.joined
            hub.leave(key, cast("Socket", self))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Pages have nothing to say here: what comes is dropped."""


def _holder(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The token that is shown, else the key of the session that the cookie names; empty for neither."""
    headers = tuple(headers)
    token = bearer.among(headers)
    if token is not None:
        return holders.of_token(token)
    cookies = parse_cookie("; ".join(value.decode("latin-1") for name, value in headers if name == b"cookie"))
    key = cookies.get(settings.SESSION_COOKIE_NAME, "")
    return key if sessions.is_key(key) else ""


async def _rights(holder: str) -> Rights | None:
    """What the holder of a session may; who has none is nobody, without asking the database.

    None where the database does not tell and did not lately.
    """
    if not holder:
        return rights.anonymous(anonymous_reads=settings.ZKDASH_ANONYMOUS_READ)
    rights_of = partial(holders.known, [holder], anonymous_reads=settings.ZKDASH_ANONYMOUS_READ)
    return (await database_sync_to_async(rights_of)())[holder]


def _key(path: Mapping[str, Any], query: str) -> PageKey:
    """The page that the socket's address names, with its query as the page itself reads it."""
    arguments = dict(path)
    page: Page | None = arguments.pop("page", None)
    if page is None:
        return PageKey(None, clusters.NAME)
    cluster = arguments.pop("cluster")
    return PageKey(cluster, page.name, tuple(arguments.values()), page.canonical(query)[0])
