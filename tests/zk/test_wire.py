"""The contact with kazoo's private names, and what a mirror sends: it reads and watches, and nothing else."""

from __future__ import annotations

import importlib.metadata
import struct

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.connection import ConnectionHandler

from tests.conftest import Chroot
from tests.zk import witness
from tests.zk.proxy import Proxy
from zkdash.zk import jute

# exists, sync, ping, MultiRead, auth, addWatch, close: none of them changes a znode
ALLOWED = {jute.EXISTS, jute.SYNC, jute.PING, jute.MULTI_READ, 100, jute.ADD_WATCH, jute.CLOSE}


def test_kazoo_is_the_version_whose_private_names_we_know() -> None:
    assert importlib.metadata.version("kazoo") == "2.11.0"
    client = KazooClient()
    for name in ("_connection", "_conn_retry", "_state", "_stopped", "_session_id", "_session_timeout"):
        assert hasattr(client, name), name
    connection = client._connection
    assert isinstance(connection, ConnectionHandler)
    for name in (
        "_connect",
        "_connect_attempt",
        "_expand_client_hosts",
        "_read",
        "_read_sock",
        "_write_sock",
        "_socket",
        "_socket_error_handling",
        "zk_loop",
    ):
        assert hasattr(connection, name), name


def opcodes(sent: bytes) -> list[int]:
    """The operations of one connection after its handshake; none for a four-letter word."""
    found, offset = [], 0
    if sent.startswith(b"srvr"):
        return []
    while offset < len(sent):
        length, _, opcode = struct.unpack_from("!iii", sent, offset)
        if offset:
            found.append(opcode)
        offset += 4 + length
    return found


@pytest.mark.zk
def test_a_mirror_sends_no_operation_that_writes(chroot: Chroot) -> None:
    with Proxy(chroot.server.port) as proxy:
        address = f"127.0.0.1:{proxy.port}{chroot.path}"
        auth = ("digest", "me:secret")
        with witness.mirroring(address, ("/brokers", "/absent"), auth=auth) as (mirror, seen):
            witness.wait_live(mirror)
            chroot.client.create("/brokers/topics/t", b"1", makepath=True)
            witness.wait_sees(seen, lambda state: "/brokers/topics/t" in state)
            proxy.cut()
            proxy.restore()
            witness.wait_proved(mirror)
        used = {opcode for sent in proxy.sent for opcode in opcodes(bytes(sent))}
    assert used <= ALLOWED
    assert {jute.MULTI_READ, jute.ADD_WATCH, jute.SYNC, 100} <= used
