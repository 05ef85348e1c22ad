"""Znodes read on the mirror's session, from a real ZooKeeper: every kind, refusals, limits, secrets."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kazoo.client import KazooClient
from kazoo.protocol.serialization import Create
from kazoo.security import ACL, OPEN_ACL_UNSAFE, Id, make_digest_acl

from tests.conftest import Chroot
from tests.fixtures import hostile
from tests.lab import snapshot
from tests.narrowing import sure
from tests.zk import witness
from tests.zk.proxy import Proxy
from zkdash.demo.zookeeper.server import Server
from zkdash.zk.config import parse_address
from zkdash.zk.reader import znode_reader
from zkdash.zk.reader.znode_reader import MOST_BYTES, MOST_CHILDREN, NOTHING, VisitError, ZnodeReader
from zkdash.zk.wire import answers, jute
from zkdash.znode import Acl, Stat, Unreadable, Znode

WORLD = (Acl(31, "world", "anyone"),)
STAT = Stat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
TTL_MS = 86_400_000


class _CreateContainer(Create):  # type: ignore[misc]
    """ZooDefs.OpCode.createContainer, which kazoo lacks."""

    type = 19


class _CreateTtl(Create):  # type: ignore[misc]
    """ZooDefs.OpCode.createTTL."""

    type = 21

    def serialize(self) -> bytearray:
        return bytearray(super().serialize()) + struct.pack("!q", TTL_MS)


def create(client: KazooClient, kind: type[Create], path: str, flags: int) -> None:
    made = client.handler.async_result()
    client._call(kind(client.chroot + path, b"x", OPEN_ACL_UNSAFE, flags), made)
    made.get(timeout=60.0)


@contextlib.contextmanager
def visiting(address: str) -> Iterator[ZnodeReader]:
    """A visitor on the session of a mirror that is live."""
    with witness.mirroring(address, ("/brokers",)) as (mirror, _):
        witness.wait_live(mirror)
        yield ZnodeReader(mirror.aside, parse_address(address)[1])


@pytest.mark.zk
def test_a_znode_of_every_kind_is_told_as_zookeeper_holds_it(chroot: Chroot) -> None:
    client = chroot.client
    client.create("/tree", b"root")
    client.create("/tree/persistent", b"\x00\xff")
    client.create("/tree/ephemeral", b"x", ephemeral=True)
    client.create("/tree/sequential-", b"x", sequence=True)
    create(client, _CreateContainer, "/tree/container", 4)
    create(client, _CreateTtl, "/tree/ttl", 5)
    with visiting(chroot.address) as visitor:
        root = visitor.read("/tree", whole=True)
        assert root.children == ("container", "ephemeral", "persistent", "sequential-0000000002", "ttl")
        owners = visitor.stats([f"/tree/{one}" for one in root.children])
        top = visitor.read("/", whole=True)
        binary = visitor.read("/tree/persistent", whole=True)
        absent = visitor.read("/tree/absent", whole=True)
    assert isinstance(root.data, Znode)
    assert (root.data.data, root.acl) == (b"root", WORLD)
    assert root.stat is not None
    assert (root.stat.num_children, root.stat.data_length) == (5, 4)
    assert {path: sure(Stat, found).ephemeral_owner for path, found in owners.items()} == {
        "/tree/container": 0,
        "/tree/ephemeral": client.client_id[0],
        "/tree/persistent": 0,
        "/tree/sequential-0000000002": 0,
        "/tree/ttl": 0,
    }, "of containers and TTLs it tells no client"
    assert top.children == ("tree",)
    assert isinstance(binary.data, Znode)
    assert (binary.data.data, binary.children) == (b"\x00\xff", ())
    assert absent == NOTHING


@pytest.mark.zk
def test_what_an_acl_refuses_is_told_apart_from_what_is_not_there(chroot: Chroot) -> None:
    client = chroot.client
    client.create("/closed", b"secret", acl=[make_digest_acl("kafka", "s3cret", all=True)])
    client.create(
        "/named", b"", acl=[ACL(1, Id("world", "anyone")), make_digest_acl("kafka", "s3cret", all=True)]
    )
    with visiting(chroot.address) as visitor:
        closed, named = visitor.read("/closed", whole=True), visitor.read("/named", whole=True)
        light, refused = visitor.read("/closed", whole=False), visitor.stats(["/closed"])
    client.delete("/closed")
    assert closed.is_there
    assert isinstance(closed.data, Unreadable)
    assert isinstance(closed.acl, Unreadable)
    assert "gives this session no READ" in closed.data.reason
    assert "neither READ nor ADMIN" in closed.acl.reason
    assert named.acl == (Acl(1, "world", "anyone"), Acl(31, "digest", "kafka"))
    assert isinstance(light.acl, Unreadable)
    assert isinstance(refused["/closed"], Unreadable), "since ZooKeeper 3.9.3, as is its Stat"


@pytest.mark.zk
def test_secrets_are_replaced_below_whatever_chroot(chroot: Chroot) -> None:
    secret = f'{{"version":1,"config":{{"SCRAM-SHA-512":"{hostile.CANARY}","producer_byte_rate":"7"}}}}'
    for path in ("/config/users/alice", "/other/cluster/config/brokers/1"):
        chroot.client.create(path, secret.encode(), makepath=True)
    chroot.client.create("/other/cluster/delegation_token/tokens/x", hostile.CANARY.encode(), makepath=True)
    with visiting(chroot.address) as visitor:
        found = [
            visitor.read(path, whole=True)
            for path in (
                "/config/users/alice",
                "/other/cluster/config/brokers/1",
                "/other/cluster/delegation_token/tokens/x",
            )
        ]
    assert hostile.CANARY not in repr(found)
    assert all(isinstance(one.data, Znode) for one in found)
    assert isinstance(found[0].data, Znode)
    assert b'"producer_byte_rate":"7"' in (found[0].data.data or b"")


@pytest.mark.zk
def test_what_has_not_changed_is_not_read_again(chroot: Chroot) -> None:
    chroot.client.create("/x", b"1")
    with visiting(chroot.address) as visitor:
        first = visitor.read("/x", whole=True)
        assert visitor.read("/x", whole=True, before=first) is first
        chroot.client.set_acls("/x", [ACL(31, Id("ip", "127.0.0.1"))])
        second = visitor.read("/x", whole=True, before=first)
        chroot.client.create("/x/child", b"")
        third = visitor.read("/x", whole=True, before=second)
    assert second.acl == (Acl(31, "ip", "127.0.0.1"),)
    assert (second.children, third.children) == ((), ("child",))


NAMES = (
    " leading",
    "trailing ",
    "a b",
    "%2F",
    "%00",
    "..a",
    "...",
    "~",
    "\u202egnp.exe",
    "Ω",
    "<b>",
    "#?&;",
    "'\"",
)


@pytest.mark.zk
def test_names_that_zookeeper_takes_are_read_as_they_are(chroot: Chroot) -> None:
    chroot.client.create("/names")
    for name in NAMES:
        chroot.client.create(f"/names/{name}", name.encode())
    with visiting(chroot.address) as visitor:
        assert visitor.read("/names", whole=True).children == tuple(sorted(NAMES))
        for name in NAMES:
            found = visitor.read(f"/names/{name}", whole=True)
            assert isinstance(found.data, Znode)
            assert found.data.data == name.encode()


def _wide(count: int) -> Iterator[tuple[str, Znode]]:
    def znode(zxid: int, children: int = 0, data: bytes = b"") -> Znode:
        return Znode.of(data, Stat(zxid, zxid, 1, 1, 0, children, 0, 0, len(data), children, zxid))

    yield "/", znode(1, 3)
    yield "/wide", znode(2, count)
    yield "/wider", znode(3, count + 1)
    yield "/long", znode(4, data=b"x" * (MOST_BYTES + 1))
    for number in range(count + 1):
        if number < count:
            yield f"/wide/child-{number:010}", znode(5 + number)
        yield f"/wider/child-{number:010}", znode(5 + number)


@pytest.mark.zk
def test_a_hundred_thousand_children_are_read_at_once_and_one_more_is_told_and_left(
    own_server: Callable[..., Server], tmp_path: Path
) -> None:
    snapshot.write(tmp_path / "zookeeper" / "version-2", _wide(MOST_CHILDREN), {})
    server = own_server(tmp_path / "zookeeper", heap_mb=512)
    with visiting(server.address) as visitor:
        wide, wider = visitor.read("/wide", whole=True), visitor.read("/wider", whole=True)
        long = visitor.read("/long", whole=True)
        assert isinstance(wide.children, tuple)
        assert (len(wide.children), wide.children[-1]) == (MOST_CHILDREN, "child-0000099999")
        shown = [f"/wide/{name}" for name in wide.children[:1000]]
        assert all(visitor.stats(shown).values())
    assert isinstance(wider.children, Unreadable)
    assert "100001 children" in wider.children.reason
    assert isinstance(long.data, Unreadable)
    assert f"{MOST_BYTES + 1} bytes" in long.data.reason


@pytest.mark.zk
def test_the_mirror_lives_on_while_others_ask(chroot: Chroot) -> None:
    chroot.client.create("/brokers")
    with witness.mirroring(chroot.address, ("/brokers",)) as (mirror, seen):
        witness.wait_live(mirror)
        visitor = ZnodeReader(mirror.aside, chroot.path)
        for number in range(50):
            chroot.client.create(f"/brokers/{number}")
            assert visitor.read("/brokers", whole=True).children is not None
        witness.wait_sees(seen, lambda state: "/brokers/49" in state)
        assert seen.seen() == witness.walk(chroot.client, ["/brokers"])
        assert seen.faults == []


@pytest.mark.zk
def test_a_silent_zookeeper_is_told_within_the_limit(chroot: Chroot, monkeypatch: pytest.MonkeyPatch) -> None:
    with Proxy(chroot.server.port) as proxy, visiting(f"127.0.0.1:{proxy.port}{chroot.path}") as visitor:
        proxy.cut()
        monkeypatch.setattr(znode_reader, "LIMIT_S", 0.3)
        with pytest.raises(VisitError, match=r"did not answer within 0\.3 s"):
            visitor.read("/", whole=True)
        with pytest.raises(VisitError, match=r"did not answer within 0\.3 s"):
            visitor.stats(["/brokers"])
        proxy.restore()


def _names(*names: bytes) -> bytes:
    return struct.pack("!i", len(names)) + b"".join(struct.pack("!i", len(one)) + one for one in names)


def test_each_answer_is_decoded() -> None:
    znode = Znode.of(b"data", STAT)
    assert answers.stat(bytes(znode[-68:])) == STAT
    assert answers.data(bytes(znode)) == znode
    assert answers.data(bytes(Znode.of(None, STAT))).data is None
    assert answers.children(_names(b"a", b"\xed\xa0\x80", "é".encode())) == ["a", "é"]


@given(st.binary(max_size=200))
def test_no_answer_does_more_than_be_refused(body: bytes) -> None:
    decoders: tuple[Callable[[bytes], Any], ...] = (answers.stat, answers.data, answers.children)
    for answer in (body, struct.pack("!i", 1) + body, struct.pack("!i", 2**31 - 1) + body):
        for decode in decoders:
            with contextlib.suppress(jute.MalformedError):
                decode(answer)
