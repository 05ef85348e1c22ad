"""The contact with kazoo's private names, and what a mirror sends: it reads and watches, and nothing else."""

from __future__ import annotations

import importlib.metadata
import struct

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.connection import ConnectionHandler

from tests.conftest import Chroot
from tests.lab import zookeeper
from tests.zk import witness
from tests.zk.proxy import Proxy
from zkdash.zk.wire import jute

# exists, sync, ping, auth, close: none of them changes a znode, as little as what a server is read with
ALLOWED = {jute.EXISTS, jute.SYNC, jute.PING, 100, jute.CLOSE}
MODERN = {jute.MULTI_READ, jute.ADD_WATCH}
ONE_SHOT = {jute.GET_DATA, jute.GET_CHILDREN, jute.SET_WATCHES}


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
@pytest.mark.parametrize("zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session")
def test_a_mirror_sends_no_operation_that_writes_and_none_that_the_server_does_not_know(
    chroot: Chroot, zookeeper_release: str
) -> None:
    reading = MODERN if zookeeper_release == zookeeper.BUNDLED else ONE_SHOT
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
            chroot.client.create("/absent/child", b"2", makepath=True)
            chroot.client.delete("/brokers", recursive=True)
            witness.wait_sees(seen, lambda state: state.keys() == {"/absent", "/absent/child"})
        used = {opcode for sent in proxy.sent for opcode in opcodes(bytes(sent))}
    assert used <= ALLOWED | reading
    assert {jute.SYNC, 100} | reading <= used
