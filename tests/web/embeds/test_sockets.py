"""Sockets of embeds, through the ASGI application: who may open one from where, and when it is closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests.web import states
from tests.web.embeds.conftest import Give
from zkdash import live
from zkdash.access.models import Embed
from zkdash.asgi import application
from zkdash.live import engine
from zkdash.live.parts import PageKey
from zkdash.live.sockets import hub
from zkdash.web.serving import renderer, tokens
from zkdash.web.serving.authorizer import NOT_ALLOWED, DatabaseAuthorizer

WIKI = "https://wiki.example.org"
LIMIT_S = 60

pytestmark = pytest.mark.django_db(transaction=True)


class Frame:
    """A browser's end of a socket."""

    def __init__(self, path: str, *origins: str, query: str = "", cookie: str = "") -> None:
        headers = [(b"origin", one.encode()) for one in origins]
        if cookie:
            headers.append((b"cookie", cookie.encode()))
        scope = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": headers}
        self._end = ApplicationCommunicator(application, scope)

    async def connect(self) -> dict[str, Any]:
        await self._end.send_input({"type": "websocket.connect"})
        return await self.hear()

    async def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = await self._end.receive_output(LIMIT_S)
        return heard

    async def closed(self) -> int:
        """The code of the end, after whatever comes before it, which for one that goes on never ends."""
        async with asyncio.timeout(LIMIT_S):
            heard = await self.hear()
            while heard["type"] == "websocket.send":
                heard = await self.hear()
            return int(heard["code"])

    async def leave(self) -> None:
        await self._end.send_input({"type": "websocket.disconnect", "code": 1001})
        await self._end.wait(LIMIT_S)


def run(play: Callable[[], Awaitable[None]]) -> None:
    """Play on a running engine without watchers."""

    async def main() -> None:
        running = engine.Engine((), renderer.Renderer())
        engine.configure(running)
        running.hub.guard(DatabaseAuthorizer())
        running.hub.start(asyncio.get_running_loop())
        await play()
        await running.hub.stop()

    try:
        asyncio.run(main())
    finally:
        engine.configure(None)


async def opening(path: str, *origins: str) -> str:
    """How the handshake ends: "accept" or "close"."""
    frame = Frame(path, *origins)
    kind = str((await frame.connect())["type"]).removeprefix("websocket.")
    await frame.leave()
    return kind


def test_without_an_origin_only_an_embed_may_open_its_socket(give: Give) -> None:
    path = f"/live/embed/{give('topic', 'orders', parents=(WIKI,))}/"

    async def play() -> None:
        found = {
            origins: await opening(path, *origins)
            for origins in (
                ("null",),
                (WIKI,),
                ("https://evil.example",),
                (),
                ("null", "https://evil.example"),
            )
        }
        assert found == {
            ("null",): "accept",
            (WIKI,): "accept",
            ("https://evil.example",): "close",
            (): "close",
            ("null", "https://evil.example"): "close",
        }
        for page in ("/live/", "/live/c/demo/", "/live/c/demo/topics/orders/"):
            assert await opening(page, "null") == "close", page

    run(play)


def test_our_own_origin_may_open_it_too(give: Give, settings: Settings) -> None:
    settings.ZKDASH_ORIGINS = ["http://127.0.0.1:8000"]

    async def play() -> None:
        assert await opening(f"/live/embed/{give_token}/", "http://127.0.0.1:8000") == "accept"

    give_token = give("overview")
    run(play)


def test_it_is_told_what_changes_of_its_own_view(give: Give) -> None:
    token = give("topic", "orders", query="sort=-partition")
    begin = tokens.of(PageKey("demo", "topic", ("orders",), "sort=-partition"), 5)

    async def play() -> None:
        frame = Frame(f"/live/embed/{token}/", "null", query=f"from={begin}")
        assert (await frame.connect())["type"] == "websocket.accept"
        running = engine.configured()
        assert running is not None
        path = "/brokers/topics/orders/partitions/2/state"
        touched = states.change(path, states.state(leader=2, isr=[1, 2], epoch=9), 6)
        running.hub.notify("demo", 6, touched)
        head, markup = "", ""
        while "<tr" not in markup:
            head, _, markup = (await frame.hear())["text"].partition("\n")
        assert json.loads(head)["to"] == 6
        assert "partition-2" in markup
        await frame.leave()
        assert running.hub.sockets == 0

    run(play)


def _revoke() -> None:
    Embed.objects.update(revoked_at=timezone.now())


def _expire() -> None:
    Embed.objects.update(expires_at=timezone.now())


def _blind() -> None:
    User.objects.get().grants.all().delete()


def _part() -> None:
    User.objects.all().delete()


@pytest.mark.parametrize("end", [_revoke, _expire, _blind, _part])
def test_it_ends_with_its_link_and_does_not_open_again(
    give: Give, monkeypatch: pytest.MonkeyPatch, end: Callable[[], None]
) -> None:
    monkeypatch.setattr(hub, "JUDGE_EVERY_S", 0.05)
    path = f"/live/embed/{give('check', 'D1')}/"

    async def play() -> None:
        frame = Frame(path, "null")
        assert (await frame.connect())["type"] == "websocket.accept"
        assert (await frame.hear())["type"] == "websocket.send"
        await asyncio.to_thread(end)
        assert await frame.closed() == NOT_ALLOWED
        await frame.leave()
        again = Frame(path, "null")
        assert (await again.connect())["type"] == "websocket.accept"
        assert await again.hear() == {"type": "websocket.close", "code": NOT_ALLOWED}  # and nothing before
        await again.leave()

    run(play)


def test_who_loses_a_link_loses_it_within_five_seconds() -> None:
    assert hub.JUDGE_EVERY_S + hub.JUDGE_LIMIT_S < 5


def test_a_cookie_beside_the_token_counts_for_nothing(give: Give, alice: User) -> None:
    token = give("topic", "orders")
    Embed.objects.update(revoked_at=timezone.now())
    browser = Client()
    browser.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    cookie = f"sessionid={browser.session.session_key}"

    async def play() -> None:
        frame = Frame(f"/live/embed/{token}/", "null", cookie=cookie)
        await frame.connect()
        assert await frame.closed() == NOT_ALLOWED
        await frame.leave()

    run(play)


def test_where_nothing_watches_it_is_to_come_again(give: Give) -> None:
    path = f"/live/embed/{give('overview')}/"
    live.clear()

    async def play() -> None:
        frame = Frame(path, "null")
        await frame.connect()
        assert await frame.closed() == 1013
        await frame.leave()

    run(play)
