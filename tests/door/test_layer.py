"""The layer in front of an application that answers when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.door import small
from zkdash.door import places
from zkdash.door.layer import Door
from zkdash.door.refusals import REFUSALS

LIMIT_S = 60.0
Message = dict[str, Any]


class Within:
    """What is behind the door: reads a request whole, and answers once it may."""

    def __init__(self) -> None:
        self.begun = 0
        self.may_answer = asyncio.Event()
        self.may_end = asyncio.Event()
        self.moves_to = ""

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await receive()
            await send({"type": f"{scope['type']}.accept"})
            await self.may_end.wait()
            return
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            return
        self.begun += 1
        await self.may_answer.wait()
        if self.moves_to:
            assert places.enter(scope, self.moves_to, None) == ""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.may_end.wait()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Asking:
    """One request or socket, from an address."""

    def __init__(self, door: Door, address: str, kind: str = "http", **scope: Any) -> None:
        self.sent: list[Message] = []
        self.body: asyncio.Queue[Message] = asyncio.Queue()
        begin = {"type": "websocket.connect"} if kind == "websocket" else {"type": "http.request"}
        self.body.put_nowait(begin)
        self._door, self._scope = (
            door,
            {"type": kind, "client": (address, 1), "headers": [], "path": "/", **scope},
        )
        if kind == "http":
            self._scope = {"method": "GET", **self._scope}
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async def send(message: Message) -> None:
            self.sent.append(message)

        await self._door(self._scope, self.body.get, send)

    @property
    def status(self) -> int:
        return int(self.sent[0].get("status", 0)) if self.sent else 0


def play(story: Callable[[Within, Callable[..., Door]], Awaitable[None]]) -> None:
    async def main() -> None:
        within = Within()

        def door(**limits: Any) -> Door:
            return Door(within, small.limits(**limits), lambda method, _path: 1000 if method == "POST" else 0)

        await asyncio.wait_for(story(within, door), LIMIT_S)

    asyncio.run(main())


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
        await asyncio.sleep(0.001)


def test_only_so_many_requests_are_worked_on_and_an_answer_that_begins_is_none() -> None:
    async def story(within: Within, door: Callable[..., Door]) -> None:
        at = door(turn_s=LIMIT_S)
        asked = [Asking(at, address) for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3") for _ in range(3)]
        await until(lambda: within.begun == 4)
        await asyncio.sleep(0)
        assert within.begun == 4
        within.may_answer.set()  # and nobody takes the answers
        await until(lambda: within.begun == 9)
        assert [one.status for one in asked] == [200] * 9
        within.may_end.set()
        await asyncio.gather(*(one.task for one in asked))
        assert at._turns.taken == at._floor.taken(places.CONNECTIONS) == 0

    play(story)


def test_whose_turn_does_not_come_hears_so() -> None:
    async def story(within: Within, door: Callable[..., Door]) -> None:
        before = REFUSALS.counts.get("turn_s", 0)
        at = door(turn_s=0.1)
        asked = [Asking(at, "10.0.0.1") for _ in range(3)]
        await asked[2].task
        assert asked[2].status == 503
        assert REFUSALS.counts["turn_s"] == before + 1
        within.may_answer.set()
        within.may_end.set()
        await asyncio.gather(*(one.task for one in asked))
        assert [one.status for one in asked] == [200, 200, 503]

    play(story)


def test_a_body_that_is_waited_for_keeps_no_turn() -> None:
    async def story(within: Within, door: Callable[..., Door]) -> None:
        at = door(body_s=LIMIT_S)
        slow = [Asking(at, "10.0.0.1", method="POST", headers=[(b"content-length", b"9")]) for _ in range(3)]
        for one in slow:
            one.body.get_nowait()
        quick = Asking(at, "10.0.0.1")
        await until(lambda: within.begun == 1)
        within.may_answer.set()
        within.may_end.set()
        await quick.task
        for one in slow:
            one.body.put_nowait({"type": "http.request", "body": b"123456789"})
        await asyncio.gather(*(one.task for one in slow))
        assert [one.status for one in slow] == [200] * 3

    play(story)


def test_who_became_a_feed_is_no_request_any_more() -> None:
    async def story(within: Within, door: Callable[..., Door]) -> None:
        at, within.moves_to = door(), places.FEEDS
        within.may_answer.set()
        asked = [Asking(at, "10.0.0.1") for _ in range(3)]
        await until(lambda: all(one.status == 200 for one in asked))
        assert (at._floor.taken(places.FEEDS), at._floor.taken(places.CONNECTIONS)) == (3, 0)
        for one in asked:
            one.task.cancel()
        await asyncio.wait([one.task for one in asked])
        assert at._floor.taken(places.FEEDS) == 0

    play(story)


def test_a_socket_too_many_is_answered_before_it_opens() -> None:
    async def story(within: Within, door: Callable[..., Door]) -> None:
        at = door()
        let_in = [Asking(at, "10.0.0.1", "websocket") for _ in range(3)]
        await until(lambda: all(one.sent for one in let_in))
        told = Asking(at, "10.0.0.1", "websocket", extensions={"websocket.http.response": {}})
        closed = Asking(at, "10.0.0.1", "websocket")
        await asyncio.gather(told.task, closed.task)
        assert told.status == 429
        assert b"Too many sockets from this address" in told.sent[1]["body"]
        assert closed.sent == [{"type": "websocket.close", "code": 1013}]
        within.may_end.set()
        await asyncio.gather(*(one.task for one in let_in))
        assert at._floor.taken(places.SOCKETS) == 0

    play(story)


def test_a_failure_behind_the_door_gives_everything_back() -> None:
    async def fails(_scope: Message, receive: Any, _send: Any) -> None:
        await receive()
        raise ValueError("no")

    async def main() -> None:
        at = Door(fails, small.LIMITS, lambda _method, _path: 0)
        asked = [Asking(at, "10.0.0.1") for _ in range(3)]
        found = await asyncio.gather(*(one.task for one in asked), return_exceptions=True)
        assert [type(one) for one in found] == [ValueError] * 3
        assert at._turns.taken == at._floor.taken(places.CONNECTIONS) == 0

    asyncio.run(main())


def test_what_else_there_is_of_asgi_passes() -> None:
    async def story(within: Within, door: Callable[..., Door]) -> None:
        within.may_end.set()
        asked = Asking(door(), "", "lifespan")
        await asked.task
        assert asked.sent == [{"type": "lifespan.accept"}]

    play(story)


def test_an_address_that_is_too_long_or_too_deep_reaches_nobody() -> None:
    async def story(within: Within, door: Callable[..., Door]) -> None:
        bounded = door(path_names=3, path_characters=20)
        within.may_answer.set()
        within.may_end.set()
        for path, limit in (("/" + "x" * 20, "path_characters"), ("/a/b/c/d", "path_names")):
            before = REFUSALS.counts.get(limit, 0)
            for kind in ("http", "websocket"):
                asked = Asking(bounded, "a", kind, path=path, extensions={"websocket.http.response": {}})
                await asked.task
                assert asked.status == 414
                assert b"Ask for one that is shorter." in asked.sent[1]["body"]
            assert REFUSALS.counts[limit] == before + 2
        assert within.begun == 0
        for path in ("/" + "x" * 19, "/a/b/c"):
            asked = Asking(bounded, "a", path=path)
            await asked.task
            assert asked.status == 200

    play(story)
