"""The socket of a page: lets the hub write to it, and holds nothing of the cluster itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer

from zkdash import live
from zkdash.live import engine
from zkdash.live.ends import Socket
from zkdash.live.hub import Hub
from zkdash.live.parts import PageKey
from zkdash.web.page import Page
from zkdash.web.pages import clusters

_TRY_AGAIN = 1013


class PageConsumer(AsyncWebsocketConsumer):
    """One browser that looks at one page."""

    joined: tuple[Hub, PageKey] | None = None

    async def connect(self) -> None:
        """Join the page's room; where nothing watches that cluster the browser is told to try again."""
        await self.accept()
        running = engine.configured()
        query = self.scope["query_string"].decode("ascii", "replace")
        key = _key(self.scope["url_route"]["kwargs"], query)
        if running is None or (key.cluster is not None and live.current(key.cluster) is None):
            await self.close(_TRY_AGAIN)
            return
        self.joined = (running.hub, key)
        running.hub.join(key, cast("Socket", self), parse_qs(query).get("from", [""])[0])

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 - Channels' signature
        if self.joined is not None:
            hub, key = self.joined
            hub.leave(key, cast("Socket", self))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Pages have nothing to say here: what comes is dropped."""


def _key(path: Mapping[str, Any], query: str) -> PageKey:
    """The page that the socket's address names, with its query as the page itself reads it."""
    arguments = dict(path)
    page: Page | None = arguments.pop("page", None)
    if page is None:
        return PageKey(None, clusters.NAME)
    cluster = arguments.pop("cluster")
    return PageKey(cluster, page.name, tuple(arguments.values()), page.canonical(query)[0])
