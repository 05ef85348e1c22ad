"""The socket of an embed: let in by the token in its path, and by nothing that a browser sends along."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from django.conf import settings

from zkdash import live
from zkdash.access import embeds, holders
from zkdash.access.embeds import Found, TokenStatus
from zkdash.live import engine
from zkdash.live.sockets.protocols import Socket
from zkdash.web.embeds import views
from zkdash.web.serving import embeddable, tokens
from zkdash.web.serving.authorizer import NOT_ALLOWED
from zkdash.web.serving.consumer import PageConsumer

_TRY_AGAIN = 1013
# What a browser sends for a sandboxed frame, which an embed is wherever it stands.
_NO_ORIGIN = "null"


class EmbedConsumer(PageConsumer):
    """One frame that looks at one view."""

    async def connect(self) -> None:
        """Join the view's room, as any viewer; closed with 4403 where the link is worth nothing any more."""
        token = str(self.scope["url_route"]["kwargs"]["token"])
        found = await database_sync_to_async(views.find)(token)
        if found is not None and not _may_come(self.scope["headers"], found):
            await self.close()
            return
        await self.accept()
        view = embeds.view(found.embed) if found and found.standing is TokenStatus.VALID else None
        if view is None or not embeddable.is_possible(view):
            await self.close(NOT_ALLOWED)
            return
        running = engine.configured()
        if running is None or live.current(view.cluster) is None:
            await self.close(_TRY_AGAIN)
            return
        key = embeddable.key(view)
        self.joined = (running.hub, key)
        query = self.scope["query_string"].decode("ascii", "replace")
        begin = parse_qs(query).get("from", [""])[0]
        running.hub.join(key, cast("Socket", self), tokens.seen(key, begin), holders.of_embed(token))


def _may_come(headers: Iterable[tuple[bytes, bytes]], found: Found) -> bool:
    """Whether a socket is opened by the frame itself, or by a page that may show it."""
    told = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    allowed = {_NO_ORIGIN, *found.embed.parents.split(), *settings.ZKDASH_ORIGINS}
    return len(told) == 1 and told[0] in allowed
