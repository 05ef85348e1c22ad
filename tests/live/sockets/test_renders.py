"""Renderings go round the holders; who takes too much gives way; what nobody waits for is not done."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest

from zkdash.door.turns import WORK
from zkdash.live.sockets import pace, renders
from zkdash.live.sockets.renders import Renders

LIMIT_S = 30.0


def run(play: Callable[[Renders], Awaitable[None]]) -> None:
    async def main() -> None:
        made = Renders()
        try:
            await asyncio.wait_for(play(made), LIMIT_S)
        finally:
            made.close()

    asyncio.run(main())


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
        await asyncio.sleep(0)


class Gate:
    """A rendering that waits to be let on, as it breathes."""

    def __init__(self) -> None:
        self.begun, self.may = threading.Event(), threading.Event()
        self.abandoned = False

    def __call__(self) -> None:
        self.begun.set()
        try:
            while not self.may.wait(0.001):
                pace.breathe()
        except pace.AbandonedError:
            self.abandoned = True
            raise


def spend(cpu_s: float) -> None:
    until_s = time.thread_time() + cpu_s
    while time.thread_time() < until_s:
        pace.breathe()


def test_holders_are_rendered_for_in_rotation() -> None:
    done: list[str] = []

    async def play(made: Renders) -> None:
        gate = Gate()
        first = asyncio.create_task(made.run(["a"], gate))
        await until(gate.begun.is_set)
        told = ["a"] * 50 + ["b", "c", "b"]
        tasks = [asyncio.create_task(made.run([one], partial(done.append, one))) for one in told]
        await until(lambda: made.waiting == len(told))
        gate.may.set()
        await asyncio.gather(first, *tasks)
        assert done[:6] == ["a", "b", "c", "a", "b", "a"]
        assert done[6:] == ["a"] * 47

    run(play)


def test_a_shared_page_is_rendered_on_the_account_that_owes_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renders, "AHEAD_S", 0.01)
    monkeypatch.setattr(renders, "SHARE", 0.0)  # what is owed stays owed, however slow the machine

    async def play(made: Renders) -> None:
        await made.run(["a"], lambda: spend(0.1))
        assert await made.run(["a"], threading.current_thread) is not await made.run(
            ["a", "b"], threading.current_thread
        )

    run(play)


def test_who_is_beyond_their_share_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renders, "AHEAD_S", 0.01)
    monkeypatch.setattr(renders, "SHARE", 0.0)  # what is owed stays owed, however slow the machine

    async def play(made: Renders) -> None:
        await made.run(["a"], lambda: spend(0.1))
        gate = Gate()
        late = asyncio.create_task(made.run(["a"], gate))
        await until(gate.begun.is_set)
        assert await made.run(["b"], lambda: 7) == 7
        gate.may.set()
        await late

    run(play)


def test_who_is_beyond_their_share_gives_way_to_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renders, "AHEAD_S", 0.01)
    monkeypatch.setattr(renders, "SHARE", 0.0)  # what is owed stays owed, however slow the machine
    monkeypatch.setattr(WORK, "requests", 1)

    async def play(made: Renders) -> None:
        await made.run(["a"], lambda: spend(0.1))
        began = time.monotonic()
        await made.run(["a"], lambda: spend(0.1))
        assert time.monotonic() - began > 0.1 * (1 + renders.LATE_REST) * 0.9

    run(play)


def test_what_nobody_waits_for_is_not_begun_and_ends() -> None:
    async def play(made: Renders) -> None:
        gate = Gate()
        running = asyncio.create_task(made.run(["a"], gate))
        await until(gate.begun.is_set)
        waiting = asyncio.create_task(made.run(["a"], lambda: pytest.fail("nobody waits for it")))
        await until(lambda: made.waiting == 1)
        for one in (waiting, running):
            one.cancel()
            with suppress(asyncio.CancelledError):
                await one
        assert made.waiting == 0
        assert await made.run(["a"], lambda: 7) == 7
        assert gate.abandoned

    run(play)


def test_what_fails_fails_for_who_waits_and_nobody_else() -> None:
    def fail() -> None:
        raise RuntimeError("planted")

    async def play(made: Renders) -> None:
        with pytest.raises(RuntimeError, match="planted"):
            await made.run(["a"], fail)
        assert await made.run(["a"], lambda: 7) == 7

    run(play)


def test_what_was_used_long_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renders, "SHARE", 1_000.0)

    async def play(made: Renders) -> None:
        await made.run(["a"], lambda: spend(0.05))
        assert "a" in made._owed
        await asyncio.sleep(0.001)
        while "a" in made._owed:
            made.forget()
            await asyncio.sleep(0)

    run(play)
