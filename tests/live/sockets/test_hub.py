"""Rooms and slots on a real event loop: who is told what, and that a slow socket costs only itself."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from zkdash.live import snapshot_registry
from zkdash.live.parts import Block, PageKey, Part, Rendered, Row, Table
from zkdash.live.snapshot import ChangedAreas
from zkdash.live.sockets import hub as hubs
from zkdash.live.sockets.hub import SERVICE_RESTART, Hub
from zkdash.live.sockets.page_channel import TRY_AGAIN_LATER

KEY = PageKey("east", "topics")
TOPICS = ChangedAreas(frozenset({"topics"}))


@pytest.fixture(autouse=True)
def _no_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test takes two seconds, it hears of what changed only."""
    monkeypatch.setattr(hubs, "HEARTBEAT_S", 3600.0)


class Pages:
    """A renderer over one table of numbers, counting what it renders."""

    def __init__(self, rows: dict[str, int]) -> None:
        self.shown = rows, 1  # set and read at once: it is changed while it is rendered
        self.rendered: list[str] = []
        self.fails = False
        self.breaks = False
        self.failed = threading.Event()
        self.extra: tuple[Part, ...] = ()

    def parts(self, key: PageKey) -> Rendered:
        if self.fails:
            self.failed.set()
            raise RuntimeError("planted")
        shown, revision = self.shown
        rows = tuple(Row(name, value) for name, value in shown.items())
        return Rendered((Table("t", rows), *self.extra), revision, 7, 1.5)

    def html(self, part: Part, *, oob: bool) -> str:
        assert oob
        if self.breaks:
            raise RuntimeError("planted")
        self.rendered.append(part.id)
        rows = part.rows if isinstance(part, Table) else ()
        return f"[{part.id}:{','.join(f'{row.id}={row.values}' for row in rows)}]"

    def row(self, row: Row, *, oob: bool) -> str:
        assert oob
        self.rendered.append(row.id)
        return f"<{row.id}={row.values}>"

    def keep_alive(self, key: PageKey) -> None: ...

    def forget(self, key: PageKey) -> None: ...

    def is_affected(self, key: PageKey, cluster: str, touched: ChangedAreas) -> bool:
        return "topics" in touched.areas


class Socket:
    """A consumer's end: frames as they were sent; `slow` ones never return from their first send."""

    def __init__(self, *, slow: bool = False) -> None:
        self.frames: asyncio.Queue[str] = asyncio.Queue()
        self.closed: int | None = None
        self.reason = ""
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._slow = slow

    async def send(self, text: str) -> None:
        await self.frames.put(text)
        if self._slow:
            await asyncio.Event().wait()

    async def close(self, code: int, reason: str = "") -> None:
        self.closed, self.reason = code, reason
        if not self.ended.done():
            self.ended.set_result(code)

    async def frame(self) -> tuple[dict[str, Any], str]:
        head, _, html = (await asyncio.wait_for(self.frames.get(), 60)).partition("\n")
        return json.loads(head), html


def seen(revision: int) -> str:
    return f"{snapshot_registry.STARTED}.{revision}"


def run(pages: Pages, play: Callable[[Hub], Awaitable[None]]) -> None:
    async def main() -> None:
        hub = Hub(pages)
        hub.start(asyncio.get_running_loop())
        try:
            await play(hub)
        finally:
            await hub.stop()

    asyncio.run(main())


def change(pages: Pages, hub: Hub, **rows: int) -> None:
    before, revision = pages.shown
    pages.shown = {**before, **rows}, revision + 1
    hub.notify("east", revision + 1, TOPICS)


def test_a_page_at_the_current_revision_is_sent_only_what_changes() -> None:
    pages = Pages({"a": 1, "b": 1})

    async def play(hub: Hub) -> None:
        socket = Socket()
        hub.join(KEY, socket, seen(1))
        await asyncio.sleep(0)
        change(pages, hub, b=2)
        head, html = await socket.frame()
        while not html:  # a first rendering may already hold the change
            head, html = await socket.frame()
        assert (head["to"], head["zxid"], head["as_of"]) == (2, 7, 1.5)
        assert "b=2" in html

    run(pages, play)


@pytest.mark.parametrize("token", ["", "other.1", seen(0), f"{snapshot_registry.STARTED}.x"])
def test_a_page_of_an_unknown_revision_is_sent_everything(token: str) -> None:
    async def play(hub: Hub) -> None:
        socket = Socket()
        hub.join(KEY, socket, token)
        head, html = await socket.frame()
        assert head["from"] is None
        assert html == "[t:a=1]"

    run(Pages({"a": 1}), play)


def test_frames_chain_from_revision_to_revision() -> None:
    pages = Pages({"a": 1})

    async def play(hub: Hub) -> None:
        socket = Socket()
        hub.join(KEY, socket, "")
        head, _ = await socket.frame()
        at = head["to"]
        for value in range(2, 6):
            change(pages, hub, a=value)
            head, html = await socket.frame()
            assert head["from"] == at
            assert html == f"<a={value}>"
            at = head["to"]

    run(pages, play)


def test_one_rendering_serves_all_sockets() -> None:
    pages = Pages({"a": 1})

    async def play(hub: Hub) -> None:
        sockets = [Socket() for _ in range(50)]
        for socket in sockets:
            hub.join(KEY, socket, "")
        for socket in sockets:
            await socket.frame()
        pages.rendered.clear()
        change(pages, hub, a=2)
        for socket in sockets:
            assert (await socket.frame())[1] == "<a=2>"
        assert pages.rendered == ["a"]

    run(pages, play)


def test_a_socket_that_stops_reading_delays_nobody_and_holds_only_the_newest() -> None:
    pages = Pages({"a": 0, "b": 0})

    async def play(hub: Hub) -> None:
        slow, quick = Socket(slow=True), Socket()
        hub.join(KEY, slow, "")
        hub.join(KEY, quick, "")
        await slow.frame()
        await quick.frame()
        for value in range(1, 8):
            change(pages, hub, a=value)
            assert (await quick.frame())[1] == f"<a={value}>"
        room = hub._rooms[KEY]
        assert room._slots[slow].held == {"t": {"a": "<a=7>"}}

    run(pages, play)


def test_a_revision_that_does_not_touch_the_page_is_not_rendered() -> None:
    pages = Pages({"a": 1})

    async def play(hub: Hub) -> None:
        socket = Socket()
        hub.join(KEY, socket, "")
        await socket.frame()
        hub.notify("east", 9, ChangedAreas(frozenset({"groups"})))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        room = hub._rooms[KEY]
        room.beat(11, 2.5)
        head, html = await socket.frame()
        assert head == {"from": 1, "to": 9, "zxid": 11, "as_of": 2.5}
        assert html == ""

    run(pages, play)


def test_a_beat_that_falls_into_a_rendering_is_sent_after_it_though_nothing_changed() -> None:
    pages = Pages({"a": 1})
    begun, may_end = threading.Event(), threading.Event()
    parts = pages.parts

    def slow(key: PageKey) -> Rendered:
        begun.set()
        assert may_end.wait(60)
        return parts(key)

    async def play(hub: Hub) -> None:
        socket = Socket()
        hub.join(KEY, socket, "")
        await socket.frame()
        pages.parts = slow  # type: ignore[method-assign]
        change(pages, hub)  # of what the page does not show
        assert await asyncio.to_thread(begun.wait, 60)
        hub._rooms[KEY].beat(11, 2.5)
        assert socket.frames.empty()
        may_end.set()
        assert await socket.frame() == ({"from": 1, "to": 2, "zxid": 7, "as_of": 1.5}, "")

    run(pages, play)


def test_a_page_that_got_other_parts_is_made_to_fetch_itself() -> None:
    pages = Pages({"a": 1})

    async def play(hub: Hub) -> None:
        socket = Socket()
        hub.join(KEY, socket, "")
        await socket.frame()
        pages.extra = (Block("b", "", 1),)
        change(pages, hub)
        head, html = await socket.frame()
        assert head["from"] == -1
        assert html == ""

    run(pages, play)


def test_a_rendering_that_fails_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zkdash.live.sockets.page_channel.RETRY_INTERVAL_S", 0.0)
    pages = Pages({"a": 1})

    async def play(hub: Hub) -> None:
        socket = Socket()
        hub.join(KEY, socket, "")
        await socket.frame()
        pages.fails = True
        change(pages, hub, a=2)
        assert await asyncio.to_thread(pages.failed.wait, 60)
        pages.fails = False
        assert (await socket.frame())[1] == "<a=2>"

    run(pages, play)


def test_a_socket_whose_frame_cannot_be_made_is_told_to_come_back() -> None:
    pages = Pages({"a": 1})
    pages.breaks = True

    async def play(hub: Hub) -> None:
        socket = Socket()
        hub.join(KEY, socket, "")
        assert await asyncio.wait_for(socket.ended, 60) == TRY_AGAIN_LATER

    run(pages, play)


def test_the_last_socket_closes_its_room() -> None:
    async def play(hub: Hub) -> None:
        first, second = Socket(), Socket()
        hub.join(KEY, first, "")
        hub.join(KEY, second, "")
        assert hub.sockets == 2
        hub.leave(KEY, first)
        hub.leave(KEY, first)
        assert KEY in hub._rooms
        hub.leave(KEY, second)
        assert not hub._rooms

    run(Pages({}), play)


def test_stopping_closes_every_socket_so_that_it_reconnects() -> None:
    sockets: list[Socket] = []

    async def play(hub: Hub) -> None:
        sockets.append(Socket())
        hub.join(KEY, sockets[0], "")

    run(Pages({}), play)
    assert sockets[0].closed == SERVICE_RESTART
