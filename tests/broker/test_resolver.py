"""Names become addresses without holding up anybody else."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest

from tests.waiting import wait_for
from zkdash.broker.resolver import MOST, Resolver


def test_an_address_is_not_looked_up() -> None:
    def never(host: str) -> list[str]:
        raise AssertionError(host)

    async def both() -> tuple[list[str], list[str]]:
        resolver = Resolver(never)
        return await resolver.resolve("127.0.0.1"), await resolver.resolve("::1")

    assert asyncio.run(both()) == (["127.0.0.1"], ["::1"])


def test_a_name_gives_its_addresses() -> None:
    assert "127.0.0.1" in asyncio.run(Resolver().resolve("localhost"))


def test_a_name_that_hangs_is_given_up_and_looked_up_only_once() -> None:
    released, calls = threading.Event(), []

    def hangs(host: str) -> list[str]:
        calls.append(host)
        released.wait(60)
        return ["127.0.0.9"]

    async def thrice() -> list[str]:
        resolver = Resolver(hangs)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(resolver.resolve("slow"), 0.05)
        assert calls == ["slow"]
        released.set()
        return await resolver.resolve("slow")

    assert asyncio.run(thrice()) == ["127.0.0.9"]


def test_an_unknown_name_is_an_error_of_the_system() -> None:
    def unknown(host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(OSError, match="Name or service not known"):
        asyncio.run(Resolver(unknown).resolve("nowhere"))


def test_a_name_that_no_encoding_takes_is_an_error_and_no_crash() -> None:
    with pytest.raises(OSError, match="not a host name"):
        asyncio.run(Resolver().resolve("a" * 300))


def test_where_no_name_comes_so_many_lookups_hang_and_the_others_come_after_them() -> None:
    let = threading.Event()
    begun: list[str] = []

    def hangs(host: str) -> list[str]:
        begun.append(host)
        let.wait()
        return [host]

    async def ask() -> list[list[str]]:
        resolvers = [Resolver(hangs) for _ in range(2)]
        asked = [asyncio.ensure_future(resolvers[n % 2].resolve(f"host-{n}")) for n in range(2 * MOST)]
        await asyncio.to_thread(wait_for, lambda: len(begun) >= MOST)
        await asyncio.gather(*(resolver.resolve("127.0.0.1") for resolver in resolvers))
        assert len(begun) == MOST
        let.set()
        return await asyncio.gather(*asked)

    assert asyncio.run(ask()) == [[f"host-{number}"] for number in range(2 * MOST)]
