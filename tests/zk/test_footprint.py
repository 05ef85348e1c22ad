"""What a mirror costs the server: the watches that it says it has are those that the server counts."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl

from tests.lab import zookeeper
from tests.waiting import wait_for
from tests.zk import witness
from zkdash.demo.zookeeper.server import Server

pytestmark = [pytest.mark.zk, pytest.mark.usefixtures("brisk")]

ROOTS = ("/brokers", "/controller", "/absent")


def counted(server: Server) -> int:
    """The server's own count of watches, by the four-letter word mntr."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60.0) as connection:
        connection.sendall(b"mntr")
        lines = connection.makefile().read().splitlines()
    return next(int(line.split("\t")[1]) for line in lines if line.startswith("zk_watch_count\t"))


@pytest.mark.parametrize("zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session")
def test_it_has_as_many_watches_as_it_says(own_server: Callable[..., Server], zookeeper_release: str) -> None:
    server = own_server()
    client = KazooClient(hosts=server.address)
    client.start(timeout=60.0)
    for number in range(30):
        client.create(f"/brokers/topics/t{number}/partitions/0/state", b"x", makepath=True)
    client.create("/brokers/closed", b"2", acl=[make_digest_acl("me", "pw", all=True)])
    client.create("/controller", b"1", ephemeral=True)
    with witness.mirroring(server.address, ROOTS) as (mirror, _):
        witness.wait_live(mirror)
        # data and children of each, but no children of the ephemeral and the refused; one for what is absent
        held = 2 + 30 * 4
        expected = len(ROOTS) if zookeeper_release == zookeeper.BUNDLED else 2 * held + 2 + 1
        assert mirror.session.watches == expected
        wait_for(lambda: counted(server) == expected, 60, lambda: counted(server))
        client.create("/absent/child", b"", makepath=True)
        client.delete("/brokers/topics/t1", recursive=True)
        client.delete("/controller")
        witness.wait_proved(mirror)
        wait_for(
            lambda: counted(server) == mirror.session.watches,
            60.0,
            lambda: (counted(server), mirror.session.watches),
        )
    client.stop()
    client.close()
