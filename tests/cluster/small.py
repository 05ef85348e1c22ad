"""Small trees of a cluster for tests: each function gives the znodes of one thing, by path."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping

import msgspec

from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.znode import Batch, Stat, Unreadable, Znode

Tree = dict[str, Znode | Unreadable | None]
AnyTree = Mapping[str, Znode | Unreadable | None]  # to be read: what only has znodes fits too

BORN = 1_795_260_000_000
_zxids = itertools.count(1)


SESSION = 0x1000_0000_0000_0001


def znode(
    data: bytes | str | None, *, zxid: int | None = None, born: int | None = None, owner: int = 0
) -> Znode:
    """A znode; every one that is made without a zxid was written after all before."""
    number = next(_zxids) if zxid is None else zxid
    raw = data.encode() if isinstance(data, str) else data
    created = number if born is None else born
    stat = Stat(
        created, number, BORN + created, BORN + number, number - created, 0, 0, owner, len(raw or b""), 0, 0
    )
    return Znode.of(raw, stat)


def at(read: Znode | Unreadable | None, when: int) -> Znode | Unreadable | None:
    """The same, but written at an epoch millisecond."""
    if not isinstance(read, Znode):
        return read
    return Znode.of(read.data, read.stat._replace(ctime=when, mtime=when))


def json_(**fields: object) -> Znode:
    return znode(json.dumps(fields))


def ephemeral(**fields: object) -> Znode:
    """As `json_`, owned by a session."""
    return znode(json.dumps(fields), owner=SESSION)


def broker(number: int, *, rack: str | None = None) -> Tree:
    endpoints = [f"PLAINTEXT://host-{number}:9092"]
    registration = {
        "version": 4,
        "host": f"host-{number}",
        "port": 9092,
        "endpoints": endpoints,
        "rack": rack,
    }
    return {f"/brokers/ids/{number}": ephemeral(**registration)}


def topic(name: str, partitions: Mapping[int, list[int]], **more: object) -> Tree:
    """A 0.8+ topic whose partitions all are led by their preferred replica, all replicas in sync."""
    tree = assignment(name, partitions, **more)
    tree[f"/brokers/topics/{name}/partitions"] = znode(None)
    for partition, replicas in partitions.items():
        tree[f"/brokers/topics/{name}/partitions/{partition}"] = znode(None)
        tree |= state(name, partition, replicas[0], replicas)
    return tree


def assignment(name: str, partitions: Mapping[int, list[int]], **more: object) -> Tree:
    lists = {str(partition): replicas for partition, replicas in partitions.items()}
    return {f"/brokers/topics/{name}": json_(version=3, partitions=lists, **more)}


def state(name: str, partition: int, leader: int, isr: list[int], *, leader_epoch: int = 0) -> Tree:
    fields = {"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": leader_epoch, "isr": isr}
    return {f"/brokers/topics/{name}/partitions/{partition}/state": json_(**fields)}


def config(name: str, **settings: str) -> Tree:
    return {f"/config/topics/{name}": json_(version=1, config=settings)}


def controller(number: int) -> Tree:
    return {"/controller": ephemeral(version=1, brokerid=number, timestamp=str(BORN))}


def reassignment(*moves: tuple[str, int, list[int]]) -> Tree:
    entries = [{"topic": name, "partition": partition, "replicas": to} for name, partition, to in moves]
    return {"/admin/reassign_partitions": json_(version=1, partitions=entries)}


def group(
    name: str, members: Mapping[str, list[str]], owners: Mapping[str, Iterable[object]] | None = None
) -> Tree:
    """A group: topics subscribed to by member, and owned partitions by topic."""
    tree: Tree = {f"/consumers/{name}": znode(None)}
    for member, topics in members.items():
        subscription = dict.fromkeys(topics, 1)
        tree[f"/consumers/{name}/ids/{member}"] = ephemeral(
            version=1, subscription=subscription, pattern="static", timestamp=str(BORN)
        )
    for of, parts in (owners or {}).items():
        for part in parts:
            tree[f"/consumers/{name}/owners/{of}/{part}"] = znode(f"{name}_host-1-00000000-0", owner=SESSION)
    return tree


def built(*trees: AnyTree) -> ClusterState:
    """The state of these znodes, loaded as one whole batch."""
    merged: Tree = {}
    for tree in trees:
        merged |= tree
    after, _ = advance.advance(ClusterState(), Batch(merged, 1, whole=True))
    return after


def step(state_: ClusterState, *trees: AnyTree) -> tuple[ClusterState, ChangedAreas]:
    """The state after one more batch, and what it touched."""
    merged: Tree = {}
    for tree in trees:
        merged |= tree
    return advance.advance(state_, Batch(merged, state_.zxid + 1))


def gone(*paths: str) -> Tree:
    return dict.fromkeys(paths)


def plain(state_: ClusterState) -> dict[str, object]:
    """A state as values to compare: whatever the way that led to it."""
    values = msgspec.structs.asdict(state_)
    values["ranking"] = tuple(state_.ranking)
    values["group_ranking"] = tuple(state_.group_ranking)
    del values["zxid"], values["loaded"]
    return values
