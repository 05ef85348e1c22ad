"""A snapshot as a real ZooKeeper server reads it."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from tests import recorded
from tests.lab import snapshot
from zkdash.demo.zookeeper.server import Server
from zkdash.znode import Stat, Znode

_AHEAD = 500


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KazooClient]:
    """A client of a server that started from the one snapshot of the trees."""
    data_dir = tmp_path_factory.mktemp("recorded")
    recorded.write_snapshot(data_dir, recorded.TRIED)
    with Server(data_dir) as server:
        client = KazooClient(hosts=server.address, timeout=10.0)
        client.start(timeout=60.0)
        yield client
        client.stop()
        client.close()


@pytest.mark.zk
@pytest.mark.parametrize("name", recorded.TRIED)
def test_a_server_shows_the_data_and_all_eleven_fields_of_stat_as_they_were(
    client: KazooClient, name: str
) -> None:
    tree = recorded.load(name)
    assert _read(client, name, list(tree)) == tree


@pytest.mark.zk
def test_a_server_shows_the_chroots_of_the_trees_and_no_other_znode_than_those_written(
    client: KazooClient,
) -> None:
    assert set(client.get_children("/")) - {"zookeeper"} == set(recorded.TRIED)
    for name in recorded.TRIED:
        below = recorded.children(recorded.load(name))
        for path in ("/", "/brokers", "/brokers/topics", "/consumers", "/config"):
            if path in below:
                assert sorted(client.get_children(_under(name, path))) == below[path]


@pytest.mark.zk
def test_ephemerals_outlive_the_start_and_die_with_their_session(
    tmp_path: Path, own_server: Callable[..., Server]
) -> None:
    short, long = 0x1111, 0x8100_0000_0000_2222 - 2**64  # a server with the id 129 makes negative ones
    nodes = {
        "/": _made(1, children=3),
        "/persistent": _made(2),
        "/of-long": _made(3, owner=long),
        "/of-short": _made(4, owner=short),
    }
    snapshot.write(tmp_path / "data" / "version-2", nodes.items(), {short: 1, long: 3_600_000})
    client = KazooClient(hosts=own_server(tmp_path / "data").address, timeout=10.0)
    client.start(timeout=60.0)
    gone = client.handler.event_object()
    if client.exists("/of-short", watch=lambda _: gone.set()):
        assert gone.wait(60)
    assert sorted(set(client.get_children("/")) - {"zookeeper"}) == ["of-long", "persistent"]
    client.stop()
    client.close()


def test_the_file_is_named_by_the_highest_zxid_and_appears_only_when_complete(tmp_path: Path) -> None:
    made = snapshot.write(tmp_path / "version-2", [("/", _made(0xAB)), ("/a", _made(0x1F0))], {})
    assert made.name == "snapshot.1f0"
    assert [path.name for path in (tmp_path / "version-2").iterdir()] == ["snapshot.1f0"]


def test_the_file_ends_with_the_checksum_of_all_that_stands_before_it() -> None:
    file = io.BytesIO()
    many = [("/", _made(1)), *((f"/{number}", _made(2, data=b"x" * 1000)) for number in range(3000))]
    assert snapshot.encode(file, many, {7: 1000}) == 2
    data = file.getvalue()
    assert data[-5:] == b"\x00\x00\x00\x01/"
    assert int.from_bytes(data[-13:-5], "big") == zlib.adler32(data[:-13])


def _made(zxid: int, *, owner: int = 0, children: int = 0, data: bytes | None = None) -> Znode:
    return Znode.of(data, Stat(zxid, zxid, 5, 6, 0, children, 0, owner, len(data or b""), children, zxid))


def _under(name: str, path: str) -> str:
    return f"/{name}{'' if path == '/' else path}"


def _read(client: KazooClient, name: str, paths: list[str]) -> dict[str, Znode]:
    """Everything at some paths, some hundred requests in flight at a time."""
    found = {}
    for start in range(0, len(paths), _AHEAD):
        asked = [(path, client.get_async(_under(name, path))) for path in paths[start : start + _AHEAD]]
        for path, answer in asked:
            data, stat = answer.get(timeout=30)
            found[path] = Znode.of(data, Stat(*stat))
    return found
