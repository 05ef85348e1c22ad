"""Snapshots: as real servers wrote them, as their own tool prints them, and torn ones that are refused."""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kazoo.client import KazooClient

from tests import recorded, waiting
from tests.formats import driven, snapshots
from tests.formats.snapshots import Snapshot
from tests.lab import snapshot
from zkdash.demo.zookeeper.server import Server
from zkdash.formats import snapshot_arrow, xerial
from zkdash.formats.problems import Problem
from zkdash.formats.redaction import Redaction
from zkdash.znode import Stat, Znode

SHOWING = Redaction((), lambda _, data: data)
WAYS = {
    "plain": (),
    "gz": ("-Dzookeeper.snapshot.compression.method=gz",),
    "snappy": ("-Dzookeeper.snapshot.compression.method=snappy",),
}


@pytest.mark.zk
def test_a_servers_snapshot_holds_what_the_server_shows_and_what_its_tool_prints(
    own_server: Callable[..., Server], tmp_path: Path
) -> None:
    """Written in each way, as a server writes one whenever it starts."""
    data_dir = tmp_path / "served"
    server = own_server(data_dir, java_options=driven.CONTAINER_CHECKS)
    driven.write_everything(server.address, modern=True)
    client = driven.connected(server.address, timeout=60.0)
    client.create("/live", b"x", ephemeral=True)
    session, _ = client.client_id  # which it tells while it is connected
    magics = set()
    for way, options in WAYS.items():
        with visiting(server.address) as visitor:
            visitor.set("/n1", way.encode())  # so that the next snapshot is a newer one
        server.stop()
        server = own_server(data_dir, port=server.port, java_options=options)
        with visiting(server.address) as visitor:
            magics.add(_check_snapshot(visitor, session, data_dir)[:4])
    assert len(magics) == len(WAYS)
    waiting.wait_for(lambda: client.connected, limit_s=120.0)  # only then it can be stopped
    client.stop()
    client.close()


@contextlib.contextmanager
def visiting(address: str) -> Iterator[KazooClient]:
    """Connected to a server that serves. Who waits for its start connects again in his own time."""
    client = driven.connected(address)
    try:
        yield client
    finally:
        client.stop()
        client.close()


def _check_snapshot(client: KazooClient, session: int, data_dir: Path) -> bytes:
    """The newest snapshot, which holds what the server shows, and this session of before."""
    tree = _tree(client)
    newest = _newest(data_dir)
    read = _read(newest.read_bytes())
    # the ensemble's configuration is made anew at each start
    assert {p: z for p, z in read.znodes if p != "/zookeeper/config"} == {
        p: z for p, z in tree.items() if p != "/zookeeper/config"
    }
    assert read.sessions == {session: 60_000}
    assert read.digest is not None
    assert read.digest.zxid == read.last_zxid == int(newest.name.split(".")[1], 16)
    assert _told(read) == _printed(newest)
    assert _rows(newest.read_bytes()) == _expected(read)
    return newest.read_bytes()


@pytest.mark.zk
def test_a_snapshot_of_3_4_is_read_like_one_of_3_9(tmp_path: Path) -> None:
    with driven.old(tmp_path, "-Dzookeeper.snapCount=20") as server:
        driven.write_everything(server.address, modern=False)
        client = driven.connected(server.address)
        client.create("/nudge")

        def nudged() -> list[Path]:
            """The server takes one after so many writes, and none while it takes another."""
            client.set("/nudge", b"")
            return _whole(tmp_path)

        whole = waiting.wait_for(nudged)
        client.stop()
        client.close()
    for path in whole:
        read = _read(path.read_bytes())
        assert (read.digest, read.last_zxid) == (None, None)
        assert _told(read) == _printed(path)
    acls = {path: acl for (path, _), acl in zip(read.znodes, read.acls, strict=True)}
    assert acls["/guarded"] == "digest:alice:<hidden>:31,world:anyone:31"


def _whole(data_dir: Path) -> list[Path]:
    """The snapshots that hold the access lists and are written to their end."""
    found = []
    for path in (data_dir / "version-2").glob("snapshot.*"):
        read = snapshots.read(path.read_bytes(), SHOWING)
        if isinstance(read, Snapshot) and "/guarded" in dict(read.znodes):
            found.append(path)
    return found


@pytest.mark.parametrize("name", recorded.TREES[:6])
def test_what_our_writer_wrote_is_read_whole(name: str) -> None:
    tree = recorded.load(name)
    file = io.BytesIO()
    snapshot.encode(file, sorted(tree.items()), {7: 1000, -5: 2})
    read = _read(file.getvalue())
    assert dict(read.znodes) == tree
    assert read.sessions == {7: 1000, -5: 2}
    assert set(read.acls) == {"world:anyone:31"}
    assert _rows(file.getvalue()) == _expected(read)


@given(st.data())
def test_a_changed_byte_is_noticed_whatever_the_compression(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from([PLAIN, gzip.compress(PLAIN, mtime=0), _xerial(PLAIN)]))
    bad = bytearray(whole)
    position = data.draw(st.integers(0, len(bad) - 1))
    bad[position] ^= data.draw(st.integers(1, 255))
    read = snapshots.read(bytes(bad), SHOWING)
    # what is no part of the snapshot: a few bytes of the compression's own header
    assert isinstance(read, Problem) or (whole is not PLAIN and read == _read(PLAIN))


@given(st.data())
def test_a_cut_file_is_torn(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from([PLAIN, gzip.compress(PLAIN, mtime=0), _xerial(PLAIN)]))
    read = snapshots.read(whole[: data.draw(st.integers(0, len(whole) - 1))], SHOWING)
    assert isinstance(read, Problem)


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_raise_nothing(data: bytes) -> None:
    for each in (data, b"ZKSN\0\0\0\2" + data, PLAIN[:40] + data + b"\0\0\0\1/"):
        assert isinstance(snapshots.read(each, SHOWING), Problem)
        (told,) = snapshot_arrow.batches(each, SHOWING)
        assert isinstance(told, Problem)


def test_a_file_of_another_kind_is_told() -> None:
    read = snapshots.read(b"ZKLG" + bytes(100), SHOWING)
    assert isinstance(read, Problem)
    assert "not a snapshot" in read.reason


def test_secrets_never_leave_the_reader() -> None:
    hiding = Redaction(("/secret",), lambda path, data: None if path.startswith("/app/secret") else data)
    file = io.BytesIO()
    made = [
        ("/", _made(b"")),
        ("/app", _made(b"")),
        ("/app/secret", _made(b"canary")),
        ("/b", _made(b"shown")),
    ]
    snapshot.encode(file, made, {})
    (batch,) = snapshot_arrow.batches(file.getvalue(), hiding)
    assert not isinstance(batch, Problem)
    assert batch.column("data").to_pylist() == [b"", b"", None, b"shown"]
    assert batch.column("data_length").to_pylist() == [0, 0, 6, 5]


def _made(data: bytes | None, *, children: int = 0) -> Znode:
    return Znode.of(data, Stat(1, 2, 5, 6, 0, children, 0, 0, len(data or b""), children, 2))


def _encoded() -> bytes:
    file = io.BytesIO()
    nodes = [("/", _made(b"", children=2)), ("/a", _made(b"x" * 50)), ("/b", _made(None))]
    snapshot.encode(file, nodes, {7: 1000})
    return file.getvalue()


PLAIN = _encoded()


def _xerial(data: bytes) -> bytes:
    import cramjam

    blocks = [bytes(cramjam.snappy.compress_raw(data[at : at + 64])) for at in range(0, len(data), 64)]
    framed = b"".join(len(block).to_bytes(4, "big") + block for block in blocks)
    return xerial.MAGIC + bytes([0, 0, 0, 1, 0, 0, 0, 1]) + framed


def _read(data: bytes) -> Snapshot:
    read = snapshots.read(data, SHOWING)
    assert isinstance(read, Snapshot), read
    return read


def _rows(data: bytes) -> list[dict[str, object]]:
    batches = list(snapshot_arrow.batches(data, SHOWING, limit=7))
    return [row for batch in batches if not isinstance(batch, Problem) for row in batch.to_pylist()]


def _expected(read: Snapshot) -> list[dict[str, object]]:
    return [
        {"path": path, "data": znode.data, "acl": acl, **znode.stat._asdict()}
        for (path, znode), acl in zip(read.znodes, read.acls, strict=True)
    ]


def _newest(data_dir: Path) -> Path:
    found = (data_dir / "version-2").glob("snapshot.*")
    return max(found, key=lambda path: int(path.name.split(".")[1], 16))


def _tree(client: KazooClient, path: str = "/") -> dict[str, Znode]:
    data, stat = client.retry(client.get, path)
    found = {path: Znode.of(data, Stat(*stat))}
    for name in client.retry(client.get_children, path):
        found |= _tree(client, f"{path.rstrip('/')}/{name}")
    return found


def _told(read: Snapshot) -> dict[str, dict[str, str]]:
    """As SnapshotFormatter tells znodes: it knows no null, and shows the cversion as it is stored."""
    found = {}
    for path, znode in read.znodes:
        stat = znode.stat
        found[path] = {
            "cZxid": f"{stat.czxid:#016x}",
            "mZxid": f"{stat.mzxid:#016x}",
            "pZxid": f"{stat.pzxid:#016x}",
            "ctime": _when(stat.ctime),
            "mtime": _when(stat.mtime),
            "cversion": str((stat.cversion + stat.num_children) // 2),
            "dataVersion": str(stat.version),
            "aclVersion": str(stat.aversion),
            "ephemeralOwner": f"{stat.ephemeral_owner & (2**64 - 1):#016x}",
            "data": base64.b64encode(znode.data or b"").decode(),
        }
    return found


def _when(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds // 1000, UTC):%a %b %d %H:%M:%S UTC %Y}"


def _printed(path: Path) -> dict[str, dict[str, str]]:
    znodes = driven.tool("SnapshotFormatter", "-d", path).split("Session Details")[0].split("----\n")[1:-1]
    found = {}
    for znode in znodes:
        name, *lines = znode.rstrip("\n").split("\n")
        found[name] = dict(re.findall(r"\A  (\w+) = (.*)\Z", line)[0] for line in lines if line)
    return found
