"""A cluster's story told to a real ZooKeeper while it is recorded, with dumps that somebody else takes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from kazoo.client import KazooClient

from tests.conftest import Chroot
from tests.history.recorder.test_recorder import OFFSET, checkpoint, recorded, rows, written
from tests.serving import Served, starter
from tests.waiting import wait_for
from tests.world import World
from zkdash.history.store import watching
from zkdash.kafka import paths
from zkdash.znode import Stat, Znode

LIMIT_S: Final = 30.0


class Dump(msgspec.Struct, frozen=True):
    """The tree as a client of its own read it, when nothing was written: all up to `zxid`."""

    name: str
    zxid: int
    znodes: dict[str, Znode]


def tell(chroot: Chroot, directory: Path) -> list[Dump]:
    """Tell the story while it is recorded below `directory`; a dump for each of its moments."""
    world = World(chroot.client, chroot.address)
    world.broker(1, controller=True)
    world.broker(2)
    world.topic("orders", {0: [1, 2], 1: [2, 1]})
    dumps = []
    with recorded(directory, chroot.address):
        checkpoint(directory)
        for name in moments(chroot.client, world, directory):
            dumps.append(dump(name, chroot.client))
            until_recorded(directory, dumps[-1].zxid)
    world.close()
    return dumps


def moments(client: KazooClient, world: World, directory: Path) -> Iterator[str]:
    """What happens, the name of each moment once it is there; it waits for a commit to be recorded below
    `directory`, since commits are sampled."""
    world.state("orders", 0, leader=2, isr=[2], epoch=1)
    yield "leader moved"
    client.create("/consumers/billing/ids/billing_one", _member("orders"), makepath=True, ephemeral=True)
    client.create("/consumers/billing/owners/orders/0", b"billing_one-0", makepath=True, ephemeral=True)
    client.create(OFFSET, b"5", makepath=True)
    wait_for(written(directory, OFFSET, b"5"), limit_s=LIMIT_S)
    yield "group came"
    _put(client, "/config/topics/orders", {"version": 1, "config": {"retention.ms": "1000"}})
    yield "config changed"
    world.topic("payments", {0: [2]})
    yield "topic made"
    world.kill_broker(2)
    yield "broker gone"
    world.state("orders", 0, leader=1, isr=[1], epoch=2)
    client.set(OFFSET, b"9")
    wait_for(written(directory, OFFSET, b"9"), limit_s=LIMIT_S)
    yield "elected anew"
    client.delete("/brokers/topics/payments", recursive=True)
    yield "topic deleted"
    world.topic("payments", {0: [1], 1: [1]})
    yield "topic made anew"
    client.delete("/consumers/billing/owners/orders/0")
    yield "owner gone"


def _member(topic: str) -> bytes:
    told = {"version": 1, "subscription": {topic: 1}, "pattern": "static", "timestamp": "1795171327123"}
    return json.dumps(told).encode()


def _put(client: KazooClient, path: str, value: object) -> None:
    data = json.dumps(value).encode()
    if client.exists(path):
        client.set(path, data)
    else:
        client.create(path, data, makepath=True)


@contextlib.contextmanager
def served(chroot: Chroot, below: Path, cluster: str) -> Iterator[tuple[Served, list[Dump]]]:
    """A `serve` of the cluster whose story was told and recorded `below`, and which records no more.

    Another one, `elsewhere`, is never reached.
    """
    dumps = tell(chroot, below / "history" / cluster)
    clusters = below / "clusters.toml"
    clusters.write_text('[clusters.elsewhere]\nzookeeper = "127.0.0.1:1"\n')
    with starter(below) as start:
        server = start(
            ZKDASH_ZOOKEEPER=chroot.address,
            ZKDASH_CONFIG=clusters,
            ZKDASH_HISTORY=below / "history",
            options=["--no-record"],
        )
        server.wait_until_loaded()
        yield server, dumps


def dump(name: str, client: KazooClient, roots: Iterable[str] = paths.ROOTS) -> Dump:
    """Everything below these znodes, read znode by znode."""
    znodes: dict[str, Znode] = {}
    waiting = [root for root in roots if client.exists(root)]
    while waiting:
        path = waiting.pop()
        data, stat = client.get(path)
        told = Stat(
            stat.czxid,
            stat.mzxid,
            stat.ctime,
            stat.mtime,
            stat.version,
            stat.cversion,
            stat.aversion,
            stat.ephemeralOwner,
            stat.dataLength,
            stat.numChildren,
            stat.pzxid,
        )
        znodes[path] = Znode.of(data, told)
        waiting += [f"{path}/{child}" for child in client.get_children(path)]
    return Dump(name, client.last_zxid, znodes)


def until_recorded(directory: Path, zxid: int) -> None:
    wait_for(
        lambda: any(each["zxid_upto"] >= zxid for each in rows(directory, watching.NAME)), limit_s=LIMIT_S
    )
