"""Servers that two names lead to, and one whose name takes for ever to resolve."""

from __future__ import annotations

import socket
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from tests.waiting import wait_for
from tests.zk import fake
from zkdash.demo.runtime import ports
from zkdash.formats.ensemble.values import Member, Membership, Reach, Server
from zkdash.zk.config import ClusterConfig
from zkdash.zk.ensemble import round as rounds
from zkdash.zk.ensemble.round import Round

# Another spelling of 127.0.0.1, as another name for it would be.
ALIAS = "127.1"


def serves(connection: socket.socket) -> None:
    connection.recv(4)
    connection.sendall(b"Mode: follower\n")


def ask(port: int, *members: Member) -> tuple[Server, ...]:
    return Round(ClusterConfig("c", (("127.0.0.1", port),))).ask(Membership(members))


@pytest.mark.parametrize("alias", [ALIAS, "localhost"])
def test_a_member_that_is_configured_under_another_name_is_one_server(alias: str) -> None:
    with fake.serving(serves) as port:
        (server,) = ask(port, Member(7, alias, True, "", port))
    assert (server.address, server.reach) == (f"127.0.0.1:{port}", Reach.SERVING)
    assert (server.myid, server.is_voter, server.is_configured) == (7, True, True)


def test_it_is_one_server_also_where_it_is_down() -> None:
    (port,) = ports.free()
    (server,) = ask(port, Member(7, ALIAS, True, "", port))
    assert (server.myid, server.reach) == (7, Reach.DOWN)


def test_a_name_that_hangs_holds_up_no_other_and_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    released, looked_up = threading.Event(), []
    resolve = socket.getaddrinfo

    def hangs(host: Any, *arguments: Any, **named: Any) -> Any:
        if host == "slow.invalid":
            looked_up.append(host)
            released.wait(30)
        return resolve(host, *arguments, **named)

    def monotonic() -> float:
        """The time that all have is counted once the other one has answered."""
        wait_for(lambda: all(thread.name != "ask 127.0.0.1" for thread in threading.enumerate()))
        return time.monotonic()

    monkeypatch.setattr(rounds, "LIMIT_S", 0.3)
    monkeypatch.setattr(rounds, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    with fake.serving(serves) as port:
        asked = Round(ClusterConfig("c", (("slow.invalid", 1), ("127.0.0.1", port))))
        for _ in range(2):
            slow, other = asked.ask(None)
            assert slow.reason == "slow.invalid:1 does not answer"
            assert other.reach is Reach.SERVING
        assert looked_up == ["slow.invalid"]
        released.set()
