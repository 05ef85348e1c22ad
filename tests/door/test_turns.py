"""So many at once, in all and of an address; who waits does so in rotation of the addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tests.door import small
from zkdash.door.turns import Turns

LIMIT_S = 60.0


def run(play: Callable[[Turns], Awaitable[None]]) -> None:
    async def main() -> None:
        await asyncio.wait_for(play(Turns(small.LIMITS)), LIMIT_S)

    asyncio.run(main())


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
        await asyncio.sleep(0)


def test_addresses_have_their_turns_in_rotation() -> None:
    begun: list[str] = []

    async def play(turns: Turns) -> None:
        async def one(address: str) -> None:
            assert await turns.take(address, LIMIT_S)
            begun.append(address)

        waiting = [asyncio.create_task(one(address)) for address in ("a", "a", "b", "b")]
        await until(lambda: len(begun) == 4)
        waiting += [asyncio.create_task(one(address)) for address in ("a",) * 5 + ("b", "c")]
        await until(lambda: len(turns._waiting) == 3)
        for address in ("a", "b", "c", "a", "a", "a"):
            turns.give(address)
            await asyncio.sleep(0)
        await until(lambda: len(begun) == 10)
        assert begun[4:] == ["a", "b", "c", "a", "a", "a"]
        turns.give("a")
        turns.give("b")
        await asyncio.gather(*waiting)

    async def play_below_the_share(turns: Turns) -> None:
        """Both may have two at once: they take turns though the first could have the next one too."""
        for address in ("x", "x", "y", "y"):
            await turns.take(address, LIMIT_S)
        order: list[str] = []

        async def one(address: str) -> None:
            assert await turns.take(address, LIMIT_S)
            order.append(address)

        waiting = [asyncio.create_task(one(address)) for address in ("a",) * 3 + ("b",) * 3]
        await until(lambda: [len(turns._waiting.get(address, ())) for address in "ab"] == [3, 3])
        for address in ("x", "x", "y", "y", "a", "b"):
            turns.give(address)
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)
        assert order == ["a", "b", "a", "b", "a", "b"]

    run(play)
    run(play_below_the_share)


def test_an_address_with_its_share_holds_up_no_other() -> None:
    async def play(turns: Turns) -> None:
        assert [await turns.take("a", LIMIT_S) for _ in range(2)] == [True, True]
        stuck = asyncio.create_task(turns.take("a", LIMIT_S))
        await until(lambda: bool(turns._waiting))
        assert await turns.take("b", LIMIT_S)
        assert not stuck.done()
        turns.give("b")
        await asyncio.sleep(0)
        assert not stuck.done()
        turns.give("a")
        assert await stuck

    run(play)


def test_who_waits_too_long_or_goes_takes_no_turn_along() -> None:
    async def play(turns: Turns) -> None:
        for _ in range(2):
            await turns.take("a", LIMIT_S)
        assert not await turns.take("a", 0.01)
        gone = asyncio.create_task(turns.take("a", LIMIT_S))
        await until(lambda: bool(turns._waiting))
        gone.cancel()
        await asyncio.wait([gone])
        assert not turns._waiting
        # One that is gone at the very moment that its turn comes gives it on.
        both = [asyncio.create_task(turns.take("a", LIMIT_S)) for _ in range(2)]
        await until(lambda: len(turns._waiting.get("a", ())) == 2)
        turns.give("a")
        both[0].cancel()
        await asyncio.wait([both[0]])
        assert await both[1]
        assert turns.taken == 2
        turns.give("a")
        turns.give("a")
        assert turns.taken == 0
        assert not turns._by_address

    run(play)


def test_who_is_cancelled_first_is_passed_over() -> None:
    async def play(turns: Turns) -> None:
        for _ in range(2):
            await turns.take("a", LIMIT_S)
        both = [asyncio.create_task(turns.take("a", LIMIT_S)) for _ in range(2)]
        await until(lambda: len(turns._waiting.get("a", ())) == 2)
        both[0].cancel()
        turns._waiting["a"][0].cancel()
        turns.give("a")
        assert await both[1]
        await asyncio.wait([both[0]])

    run(play)
