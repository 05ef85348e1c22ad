"""The hub closes the sockets of who lost their rights, and of nobody else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping

import pytest

from tests.live.sockets.test_hub import KEY, Pages, Socket, seen
from zkdash.live.parts import PageKey
from zkdash.live.sockets import hub as hubs
from zkdash.live.sockets.hub import Hub
from zkdash.live.sockets.protocols import Held

LIST = PageKey(None, "clusters", ("east",))


class Warden:
    """Says what it is told to say; counts how often it was asked, and of how many."""

    def __init__(self) -> None:
        self.codes: dict[Held, int] = {}
        self.asked: list[int] = []
        self.fails = False
        self.hangs: threading.Event | None = None

    def judge(self, held: Collection[Held]) -> Mapping[Held, int]:
        self.asked.append(len(held))
        if self.fails:
            raise OSError("something is wrong")
        if self.hangs is not None:
            self.hangs.wait(60)
        return self.codes

    def recall(self, held: Collection[Held]) -> Mapping[Held, int]:
        return {one: hubs.TRY_AGAIN_LATER for one in held if one.holder == "bob's"}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "JUDGE_EVERY_S", 0.05)


def run(warden: Warden, play: Callable[[Hub], Awaitable[None]]) -> None:
    async def main() -> None:
        hub = Hub(Pages({"a": 1}))
        hub.guard(warden)
        hub.start(asyncio.get_running_loop())
        try:
            await play(hub)
        finally:
            await hub.stop()

    asyncio.run(main())


def test_a_socket_that_lost_its_rights_is_closed_and_hears_nothing_more() -> None:
    warden = Warden()

    async def play(hub: Hub) -> None:
        lost, kept = Socket(), Socket()
        hub.join(KEY, lost, seen(1), "alice's")
        hub.join(KEY, kept, seen(1), "bob's")
        warden.codes[Held("alice's", KEY)] = 4403
        assert await asyncio.wait_for(lost.ended, 60) == 4403
        assert hub.sockets == 1
        assert not kept.ended.done()

    run(warden, play)


def test_a_page_may_be_lost_while_another_of_the_same_session_stays() -> None:
    warden = Warden()

    async def play(hub: Hub) -> None:
        page, listing = Socket(), Socket()
        hub.join(KEY, page, seen(1), "alice's")
        hub.join(LIST, listing, seen(1), "alice's")
        warden.codes[Held("alice's", LIST)] = 1012
        assert await asyncio.wait_for(listing.ended, 60) == 1012
        assert not page.ended.done()

    run(warden, play)


def test_all_sockets_are_judged_in_one_go() -> None:
    warden = Warden()

    async def play(hub: Hub) -> None:
        for number in range(50):
            hub.join(KEY, Socket(), seen(1), f"session {number}")
        await asyncio.sleep(0)
        while len(warden.asked) < 3:  # noqa: ASYNC110 - the warden has no loop to tell
            await asyncio.sleep(0.01)
        assert set(warden.asked) == {50}

    run(warden, play)


def test_while_rights_cannot_be_read_in_time_those_count_that_were_read_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hubs, "JUDGE_LIMIT_S", 0.05)
    warden = Warden()
    warden.hangs = threading.Event()

    async def play(hub: Hub) -> None:
        known, unknown = Socket(), Socket()
        hub.join(KEY, known, seen(1), "alice's")
        hub.join(KEY, unknown, seen(1), "bob's")
        assert await asyncio.wait_for(unknown.ended, 60) == hubs.TRY_AGAIN_LATER
        assert "database" in unknown.reason
        assert not known.ended.done()

    try:
        run(warden, play)
    finally:
        warden.hangs.set()


def test_where_judging_fails_nobody_keeps_rights() -> None:
    warden = Warden()
    warden.fails = True

    async def play(hub: Hub) -> None:
        somebody, anybody = Socket(), Socket()
        hub.join(KEY, somebody, seen(1), "alice's")
        hub.join(KEY, anybody, seen(1))
        assert await asyncio.wait_for(somebody.ended, 60) == hubs.TRY_AGAIN_LATER
        assert not anybody.ended.done()

    run(warden, play)


def test_a_socket_that_left_is_judged_no_more() -> None:
    warden = Warden()

    async def play(hub: Hub) -> None:
        left, stays = Socket(), Socket()
        hub.join(KEY, left, seen(1), "alice's")
        hub.join(KEY, stays, seen(1), "bob's")
        hub.leave(KEY, left)
        while not warden.asked:  # noqa: ASYNC110 - the warden has no loop to tell
            await asyncio.sleep(0.01)
        assert warden.asked[0] == 1

    run(warden, play)
