"""The socket of an embed: let in by the token in its path, and by nothing that a browser sends along."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from django import db
from django.conf import settings

from zkdash import databases, live
from zkdash.access import embeds, holders
from zkdash.access.embeds import Found, TokenStatus
from zkdash.live import engine
from zkdash.web.embeds import views
from zkdash.web.serving import embeddable, tokens
from zkdash.web.serving.authorizer import NOT_ALLOWED
from zkdash.web.serving.consumer import AWAY, PageConsumer

_TRY_AGAIN = 1013
# What a browser sends for a sandboxed frame, which an embed is wherever it stands.
_NO_ORIGIN = "null"


class EmbedConsumer(PageConsumer):
    """One frame that looks at one view."""

    async def connect(self) -> None:
        """Join the view's room, as any viewer; closed with 4403 where the link is worth nothing any more."""
        token = str(self.scope["url_route"]["kwargs"]["token"])
        try:
            judged = await database_sync_to_async(views.find)(token)
        except db.Error as error:
            if not databases.is_away(error):
                raise
            await self.accept()
            await self.close(_TRY_AGAIN, AWAY)
            return
        if judged is not None and not _may_come(self.scope["headers"], judged):
            await self.close()
            return
        await self.accept()
        view = embeds.view(judged.embed) if judged and judged.standing is TokenStatus.VALID else None
        if view is None or not embeddable.is_possible(view):
            await self.close(NOT_ALLOWED)
            return
        running = engine.configured()
        if running is None or live.current(view.cluster) is None:
            await self.close(_TRY_AGAIN)
            return
        key = embeddable.key(view)
        query = self.scope["query_string"].decode("ascii", "replace")
        begin = parse_qs(query).get("from", [""])[0]
        await self._join(running.hub, key, tokens.seen(key, begin), holders.of_embed(token), None)


def _may_come(headers: Iterable[tuple[bytes, bytes]], judged: Found) -> bool:
    """Whether a socket is opened by the frame itself, or by a page that may show it."""
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    allowed = {_NO_ORIGIN, *judged.embed.parents.split(), *settings.ZKDASH_ORIGINS}
    return len(origins) == 1 and origins[0] in allowed
