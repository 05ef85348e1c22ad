from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, cast

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter

from tests.web import states
from zkdash.live import engine
from zkdash.live.parts import PageKey
from zkdash.web import urls
from zkdash.web.serving import renderer, tokens

# Channels closes old connections on threads that earlier tests may have left one on.
pytestmark = pytest.mark.django_db


class Browser:
    """The browser's end of one socket."""

    def __init__(self, address: str) -> None:
        path, _, query = address.partition("?")
        scope = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": []}
        self._end = ApplicationCommunicator(URLRouter(cast("list[Any]", urls.websocket_urlpatterns)), scope)

    async def connect(self) -> None:
        await self.say(type="websocket.connect")
        assert (await self.hear())["type"] == "websocket.accept"

    async def say(self, **message: Any) -> None:
        await self._end.send_input(message)

    async def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = await self._end.receive_output(timeout=60)
        return heard

    async def frame(self) -> tuple[dict[str, Any], str]:
        head, _, markup = (await self.hear())["text"].partition("\n")
        return json.loads(head), markup

    async def leave(self) -> None:
        await self.say(type="websocket.disconnect", code=1001)
        await self._end.wait(timeout=60)


Talk = Callable[[Browser, engine.Engine], Awaitable[None]]


@pytest.fixture
def _unconfigured() -> Iterator[None]:
    yield
    engine.configure(None)


def _run(path: str, talk: Talk) -> None:
    """Open one socket on a running engine without watchers."""

    async def main() -> None:
        running = engine.Engine((), renderer.Renderer())
        engine.configure(running)
        running.hub.start(asyncio.get_running_loop())
        socket = Browser(path)
        await talk(socket, running)
        await running.hub.stop()

    asyncio.run(main())


@pytest.mark.usefixtures("_unconfigured")
@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/live/c/demo/", "strip"),
        ("/live/c/demo/topics/", "topics-rows"),
        ("/live/c/demo/topics/orders/", "partitions-rows"),
        ("/live/", "clusters-rows"),
    ],
)
def test_a_page_of_another_process_gets_everything(path: str, part: str) -> None:
    states.publish(states.healthy())

    async def talk(socket: Browser, running: engine.Engine) -> None:
        await socket.connect()
        head, markup = await socket.frame()
        assert (head["from"], head["to"]) == (None, 5)
        assert f'id="{part}"' in markup
        assert running.hub.sockets == 1
        await socket.leave()
        assert running.hub.sockets == 0

    _run(f"{path}?from=elsewhere.5", talk)


@pytest.mark.usefixtures("_unconfigured")
def test_a_page_that_is_up_to_date_hears_only_of_changes() -> None:
    states.publish(states.healthy())

    async def talk(socket: Browser, running: engine.Engine) -> None:
        await socket.connect()
        # The first thing to come is the heartbeat.
        head, markup = await socket.frame()
        assert (head["from"], head["to"], markup) == (5, 5, "")

    token = tokens.of(PageKey("demo", "topics"), 5)
    _run(f"/live/c/demo/topics/?q=orders&from={token}", talk)


@pytest.mark.usefixtures("_unconfigured")
def test_what_a_browser_says_is_dropped() -> None:
    states.publish(states.healthy())

    async def talk(socket: Browser, running: engine.Engine) -> None:
        await socket.connect()
        await socket.say(type="websocket.receive", text="{}")
        await socket.say(type="websocket.receive", bytes=b"\x00")
        head, _ = await socket.frame()
        assert head["to"] == 5

    _run("/live/c/demo/", talk)


@pytest.mark.usefixtures("_unconfigured")
def test_an_unknown_cluster_is_to_be_asked_again_later() -> None:
    async def talk(socket: Browser, running: engine.Engine) -> None:
        await socket.connect()
        assert await socket.hear() == {"type": "websocket.close", "code": 1013}

    _run("/live/c/nope/", talk)
