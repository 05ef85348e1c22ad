"""Ending somebody else's session of a ZooKeeper, as its server does when the session times out.

All that the session holds goes in one transaction, and its client, should it still live, is told that the
session expired. Nobody waits for a time-out, which may then be as long as a busy machine needs.
"""

from __future__ import annotations

from kazoo.client import KazooClient

START_LIMIT_S = 60.0

# ZooKeeperServer.generatePasswd (3.4 to 3.9): java.util.Random, seeded by the session's id and this.
_SECRET = 0xB3415C00
_MASK = (1 << 48) - 1


def end(hosts: str, session: int) -> None:
    """End the session with this id, an `ephemeralOwner`, on the servers `hosts`; one that is over is fine."""
    client = KazooClient(hosts, client_id=(session, password(session)), timeout=10.0)
    client.start(timeout=START_LIMIT_S)
    client.stop()
    client.close()


def password(session: int) -> bytes:
    """The password that a server gives to the session with this id."""
    state = (session ^ _SECRET ^ 0x5DEECE66D) & _MASK
    made = bytearray()
    for _ in range(4):
        state = (state * 0x5DEECE66D + 0xB) & _MASK
        made += ((state >> 16) & 0xFFFFFFFF).to_bytes(4, "little")
    return bytes(made)
