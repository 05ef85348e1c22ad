"""Writes of every kind to a real ZooKeeper, and its whole tree as it was read at a quiet moment."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kazoo.client import KazooClient

from tests.formats.driven import connected
from zkdash.demo.zookeeper.server import Server, srvr
from zkdash.znode import Stat, Znode

RECORDED = "3.9.1-x-end"
WORLD = "/world"
CANARY = "canary-5b1e"


class Read(NamedTuple):
    """What a client saw after transaction `zxid`, the last one there was."""

    zxid: int
    znodes: dict[str, Znode]


class Written(NamedTuple):
    """A ZooKeeper's files, and its whole tree as it was read at several moments of the writing."""

    files: Path
    moments: list[Read]


def file_zxid(path: Path) -> int:
    """The zxid that the name of a log or of a snapshot ends with, in hex ("log.1f")."""
    return int(path.suffix.removeprefix("."), 16)


class Writer:
    """Writes below `root` in an order that the seed tells; many at once, failures among them."""

    def __init__(self, address: str, root: str, seed: int) -> None:
        self._address = address
        self._root = root
        self._random = random.Random(seed)  # noqa: S311 - a test's choice
        self._client = connected(address)
        self._others: list[KazooClient] = []
        self._client.ensure_path(root)
        self._known = [root]

    def round(self, count: int) -> None:
        """So many requests, of which a session of its own makes ephemerals; an earlier one ends."""
        other = connected(self._address)
        waiting = []
        for number in range(count):
            by = other if number % 7 == 0 else self._client
            waiting.append(self._request(by, ephemeral=by is other))
        for answer in waiting:
            answer.wait(30)
        self._others.append(other)
        if len(self._others) > 1:
            _close(self._others.pop(0))

    def close(self) -> None:
        for client in (*self._others, self._client):
            _close(client)

    def _request(self, client: KazooClient, *, ephemeral: bool) -> Any:
        chance, path = self._random.random(), self._random.choice(self._known)
        data = self._random.randbytes(self._random.randrange(40))
        if ephemeral or chance < 0.35:
            return client.create_async(self._new(path, keep=not ephemeral), data, ephemeral=ephemeral)
        if chance < 0.7:
            return client.set_async(path, data)
        if chance < 0.8:
            return client.delete_async(path if path != self._root else f"{path}/none")
        together = client.transaction()
        together.create(self._new(path, keep=True), data)
        together.set_data(self._root, data)
        made = self._new(self._root, keep=True)
        together.create(made, data)
        together.create(f"{made}/below", data)
        if chance < 0.85:
            together.set_data(self._root, b"never", version=1_000_000)
        if chance < 0.9:
            together.delete(f"{made}/below")
        return together.commit_async()

    def _new(self, parent: str, *, keep: bool) -> str:
        path = f"{parent}/{self._random.getrandbits(32):x}"
        if keep and path.count("/") < 6:
            self._known.append(path)
        return path


def read(server: Server, root: str = "/") -> Read:
    """The tree from `root` on, while nobody writes."""
    client = connected(server.address)
    znodes = dict(_walk(client, root))
    zxid = last_zxid(server)
    _close(client)
    return Read(zxid, znodes)


def last_zxid(server: Server) -> int:
    """The last transaction that the server applied."""
    match = re.search(r"^Zxid: 0x([0-9a-f]+)", srvr("127.0.0.1", server.port), re.MULTILINE)
    assert match
    return int(match[1], 16)


def _walk(client: KazooClient, root: str) -> Iterator[tuple[str, Znode]]:
    level = [root]
    while level:
        asked = [(path, client.get_async(path), client.get_children_async(path)) for path in level]
        level = []
        for path, data, children in asked:
            found, stat = data.get(30)
            yield path, Znode.of(found, Stat(*stat))
            level += [f"{path.rstrip('/')}/{name}" for name in children.get(30)]


def _close(client: KazooClient) -> None:
    client.stop()
    client.close()
