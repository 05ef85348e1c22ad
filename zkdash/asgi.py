"""The ASGI application: HTTP to Django, WebSockets to Channels, both through the door; lifespan is ours.

Django and Channels do not answer ASGI's lifespan protocol, so it is answered here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any, cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "zkdash.settings")
_django = get_asgi_application()

# Django must be set up before these are imported.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402
from django.utils.module_loading import import_string  # noqa: E402

from zkdash.door import addresses, prefix  # noqa: E402
from zkdash.door.layer import Door  # noqa: E402
from zkdash.door.refusals import NO_SUCH_SOCKET, REFUSALS  # noqa: E402
from zkdash.web.middleware import bodies  # noqa: E402
from zkdash.web.middleware.origins import OwnOrigins  # noqa: E402

log = logging.getLogger(__name__)

# Scopes and messages are dictionaries whose shapes ASGI tells apart by their "type".
Scope = Any
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


async def _nowhere(scope: Scope, _receive: Receive, send: Send) -> None:
    """A socket that there is not: a router would fail where none of its own fits."""
    host, _ = scope.get("client") or ("", 0)
    REFUSALS.tell(NO_SUCH_SOCKET, addresses.key(host))
    await send({"type": "websocket.close"})


_elsewhere = re_path("", cast("Any", _nowhere))
_pages = OwnOrigins(
    URLRouter([*import_string("zkdash.web.urls.websocket_urlpatterns"), _elsewhere]), settings.ZKDASH_ORIGINS
)
# An embed has no origin; its socket asks the link itself from where it may be opened.
_embeds = URLRouter([*import_string("zkdash.web.embeds.routes.SOCKETS"), _elsewhere])


async def _websocket(scope: Scope, receive: Receive, send: Send) -> None:
    to = _embeds if scope["path"].startswith("/live/embed/") else _pages
    await to(scope, receive, send)


async def _http(scope: Scope, receive: Receive, send: Send) -> None:
    await _django(prefix.mounted(settings.ZKDASH_PREFIX, scope), receive, send)


_channels = ProtocolTypeRouter({"http": _http, "websocket": _websocket})


async def _within(scope: Scope, receive: Receive, send: Send) -> None:
    """Route one ASGI scope that was let in."""
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
    else:
        await _channels(scope, receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    """Start and stop the configured engine, which `serve` names; without one nothing runs."""
    engine = import_string("zkdash.live.engine.configured")()
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            try:
                if engine is not None:
                    await engine.start()
            except Exception as error:
                log.exception("The engine did not start")
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            await send({"type": "lifespan.startup.complete"})
        else:
            if engine is not None:
                await engine.stop()
            await send({"type": "lifespan.shutdown.complete"})
            return


_door = Door(_within, settings.ZKDASH_LIMITS, bodies.most, proxies=settings.ZKDASH_PROXIES)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """zkdash, below the prefix that a proxy gives it."""
    await _door(prefix.without(settings.ZKDASH_PREFIX, scope), receive, send)
