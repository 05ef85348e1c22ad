"""A real ZooKeeper driven through every kind of transaction, and what its own tools print of its files."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NodeExistsError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.serialization import Create2
from kazoo.retry import KazooRetry
from kazoo.security import OPEN_ACL_UNSAFE, make_digest_acl

from tests import waiting
from tests.lab import zookeeper
from zkdash import java
from zkdash.demo.zookeeper import jvm
from zkdash.demo.zookeeper.server import Server

TOOL_LIMIT_S = 300
CONTAINER_CHECKS = ("-Dznode.container.checkIntervalMs=200",)
TEXTS = ("", "plain", "héllo wörld", "a,b'c\"{}", "x" * 5000)


class Container(Create2):
    """A create that kazoo has no words for: of a container (flag 4)."""

    type: ClassVar[int] = 19


class Ttl(Create2):
    """A create with a time to live; `flags` is 5, the milliseconds follow."""

    type: ClassVar[int] = 21

    def serialize(self) -> bytes:
        return bytes(super().serialize()) + struct.pack("!q", 1000)


def connected(address: str, *, timeout: float = 10.0, **options: object) -> KazooClient:
    client = KazooClient(
        hosts=address,
        timeout=timeout,
        handler=SequentialThreadingHandler(),
        # kazoo's own pauses grow to a minute while a server is away, in which a session expires
        connection_retry=KazooRetry(max_tries=-1, delay=0.05, max_delay=0.2),
        **options,
    )
    client.start(timeout=60.0)
    return client


def write_everything(address: str, *, modern: bool) -> None:
    """Every type of transaction that a standalone server logs; `modern` from 3.5 on."""
    client = connected(address)
    for number, text in enumerate(TEXTS):
        client.create(f"/n{number}", text.encode())
        client.set(f"/n{number}", text.encode() * 2)
    client.create("/binary", bytes(range(256)))
    client.create("/ünïcode-€", b"")
    client.create("/ephemeral", b"e", ephemeral=True)
    client.create("/sequence-", b"s", sequence=True)
    client.create("/guarded", b"g", acl=[make_digest_acl("alice", "secret", all=True), *OPEN_ACL_UNSAFE])
    client.set_acls("/n1", [make_digest_acl("bob", "secret", read=True), *OPEN_ACL_UNSAFE])
    _fail(client)
    _multi(client)
    if modern:
        _modern(client)
    client.delete("/n0")
    other = connected(address)
    for number in range(3):
        other.create(f"/owned-{number}", b"", ephemeral=True)
    for each in (other, client):
        each.stop()
        each.close()


def _fail(client: KazooClient) -> None:
    writes: tuple[Callable[[], object], ...] = (
        lambda: client.create("/n1"),
        lambda: client.set("/n1", b"no", version=77),
    )
    for write in writes:
        try:
            write()
        except (NodeExistsError, BadVersionError):
            continue
        raise AssertionError("a write succeeded that must not")


def _multi(client: KazooClient) -> None:
    good = client.transaction()
    good.check("/n1", version=1)
    good.create("/in-multi", b"m")
    good.create("/in-multi-ephemeral", b"m", ephemeral=True)
    good.set_data("/n2", b"set in a multi")
    good.delete("/n3")
    assert not any(isinstance(result, Exception) for result in good.commit())
    bad = client.transaction()
    bad.create("/never", b"n")
    bad.set_data("/n2", b"never", version=99)
    bad.delete("/n4")
    assert any(isinstance(result, Exception) for result in bad.commit())


def _modern(client: KazooClient) -> None:
    client.create("/second", b"2", include_data=True)
    for request in (
        Container("/container", b"c", OPEN_ACL_UNSAFE, 4),
        Ttl("/ttl", b"t", OPEN_ACL_UNSAFE, 5),
    ):
        answer = client.handler.async_result()
        client._call(request, answer)
        answer.get(timeout=30)
    client.create("/container/child")
    client.delete("/container/child")
    for path in ("/container", "/ttl"):
        waiting.wait_for(_gone(client, path), limit_s=60)


def _gone(client: KazooClient, path: str) -> Callable[[], bool]:
    return lambda: client.exists(path) is None


def old(data_dir: Path, *options: str) -> Server:
    """A ZooKeeper 3.4.14, whose jars are fetched by the run."""
    return Server(data_dir, tick_time_ms=200, java_options=options, classpath=zookeeper.classpath("3.4.14"))


def tool(main: str, *arguments: str | Path) -> str:
    """What a tool of ZooKeeper 3.9 prints, from PySpark's jars."""
    command = [java.find().path, "-Xmx256m", "-Dfile.encoding=UTF-8"]
    command += ["-Dzookeeper.extendedTypesEnabled=true", "-Dlog4j2.level=OFF", "-Duser.timezone=UTC"]
    command += [
        "-Dstdout.encoding=UTF-8",
        "-cp",
        ":".join(map(str, jvm.jars())),
        f"org.apache.zookeeper.server.{main}",
    ]
    done = subprocess.run(
        [*map(str, command), *map(str, arguments)], capture_output=True, check=True, timeout=TOOL_LIMIT_S
    )
    return done.stdout.decode()
