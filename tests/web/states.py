"""Clusters for tests of pages: built in memory from znodes, through the same reading as the real thing."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from zkdash import live
from zkdash.alarms.open_alarms import Alarms
from zkdash.broker.samples import Samples
from zkdash.cluster.analysis.migration import Migration
from zkdash.cluster.changes import Change
from zkdash.cluster.checks import Observations
from zkdash.cluster.incidents import Incidents
from zkdash.cluster.incidents.causes import Cause
from zkdash.cluster.model.brokers.kafka_groups import KafkaGroups
from zkdash.cluster.model.brokers.lags import Lags
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.live.departures import Departures
from zkdash.live.feed import Feed
from zkdash.live.queue import EMPTY, Queue
from zkdash.live.snapshot import ChangedAreas, Snapshot
from zkdash.live.tree.znodes import Znodes
from zkdash.zk.connection.session import Phase, Session
from zkdash.zk.reader.znode_reader import Visit, VisitError
from zkdash.znode import Batch, Stat, Unreadable, Znode

# 2026-11-20 10:42:07.123 UTC
TIME = 1_795_171_327_123
Tree = dict[str, Znode | Unreadable | None]
AnyTree = Mapping[str, Znode | Unreadable | None]  # to be read: what only has znodes fits too
# Of each cluster that was published, what the mirror would hold.
_held: dict[str, dict[str, Znode | Unreadable]] = {}


class NotAsked:
    """A ZooKeeper that is away: pages show what is mirrored."""

    def read(self, *_: object, **__: object) -> Visit:
        raise VisitError("ZooKeeper is away.")

    def stats(self, *_: object) -> dict[str, Stat | Unreadable | None]:
        raise VisitError("ZooKeeper is away.")


def znode(data: object = None, *, mtime: int = TIME, owner: int = 0, mzxid: int = 7) -> Znode:
    """A znode that holds text, bytes, nothing, or anything else as JSON."""
    if data is not None and not isinstance(data, bytes):
        data = (data if isinstance(data, str) else json.dumps(data)).encode("utf-8", "surrogatepass")
    size = len(data) if data else 0
    return Znode.of(data, Stat(1, mzxid, TIME, mtime, 3, 0, 0, owner, size, 0, 1))


def brokers(*ids: int) -> Tree:
    return {
        f"/brokers/ids/{number}": znode(
            {
                "version": 4,
                "host": f"host-{number}",
                "port": 9092,
                "jmx_port": -1,
                "timestamp": str(TIME),
                "endpoints": [f"PLAINTEXT://host-{number}:9092"],
                "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
                "rack": f"rack-{number % 3}",
            },
            owner=0x100,
        )
        for number in ids
    }


def topic(
    name: str,
    assignment: Mapping[int, list[int]],
    *,
    isr: Mapping[int, list[int]] | None = None,
    leader: Mapping[int, int] | None = None,
    config: Mapping[str, str] | None = None,
    mtime: int = TIME,
) -> Tree:
    """A topic of 0.8+, led by the first replica and whole unless said otherwise."""
    root = f"/brokers/topics/{name}"
    partitions = {str(number): replicas for number, replicas in assignment.items()}
    tree: Tree = {
        root: znode({"version": 2, "partitions": partitions}, mtime=mtime),
        f"{root}/partitions": znode(mtime=mtime),
    }
    for number, replicas in assignment.items():
        tree[f"{root}/partitions/{number}"] = znode(mtime=mtime)
        tree[f"{root}/partitions/{number}/state"] = state(
            leader=(leader or {}).get(number, replicas[0]), isr=(isr or {}).get(number, replicas), mtime=mtime
        )
    if config is not None:
        tree[f"/config/topics/{name}"] = znode({"version": 1, "config": dict(config)}, mtime=mtime)
    return tree


def state(leader: int, isr: list[int], *, epoch: int = 4, mtime: int = TIME) -> Znode:
    """The state of one partition."""
    return znode(
        {"version": 1, "leader": leader, "isr": isr, "leader_epoch": epoch, "controller_epoch": 12},
        mtime=mtime,
    )


def controller(broker: int) -> Tree:
    return {
        "/controller": znode({"version": 1, "brokerid": broker, "timestamp": str(TIME)}, owner=0x100),
        "/controller_epoch": znode("12"),
    }


def group(
    name: str,
    members: Mapping[str, list[str]],
    *,
    owners: Mapping[str, list[int]] | None = None,
    offsets: Mapping[str, Mapping[int, object]] | None = None,
    pattern: str = "static",
    threads: int = 1,
) -> Tree:
    """A group of 0.8 to 1.1: what each member subscribes to; the first one's first thread owns `owners`."""
    root = f"/consumers/{name}"
    tree: Tree = {root: znode()}
    for member, topics in members.items():
        tree[f"{root}/ids/{member}"] = znode(
            {
                "version": 1,
                "subscription": dict.fromkeys(topics, threads),
                "pattern": pattern,
                "timestamp": str(TIME),
            },
            owner=0x100,
        )
    for of, parts in (owners or {}).items():
        for part in parts:
            tree[f"{root}/owners/{of}/{part}"] = znode(f"{next(iter(members))}-0", owner=0x100)
    for of, values in (offsets or {}).items():
        for number, value in values.items():
            tree[f"{root}/offsets/{of}/{number}"] = znode(str(value))
    return tree


def healthy() -> Tree:
    """Three brokers, a controller, three topics."""
    return {
        **brokers(1, 2, 3),
        **controller(2),
        **topic("orders", {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]}, config={"retention.ms": "1000"}),
        **topic("payments", {0: [1, 2], 1: [2, 3]}),
        **topic("clicks", {0: [3, 1]}),
    }


def sick() -> Tree:
    """The same with broker 3 gone: an offline partition, others under-replicated."""
    return {
        **brokers(1, 2),
        **controller(2),
        **topic(
            "orders",
            {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]},
            isr={0: [1, 2], 1: [2, 1], 2: [1, 2]},
            leader={2: 1},
            config={"retention.ms": "1000"},
        ),
        **topic("payments", {0: [1, 2], 1: [2, 3]}, isr={1: [2]}),
        **topic("clicks", {0: [3]}, isr={0: [3]}, leader={0: -1}),
    }


def load(tree: AnyTree, before: ClusterState | None = None) -> ClusterState:
    """The state of a tree: the first whole batch, or what follows `before`."""
    batch = Batch(changed=tree, zxid=1000, whole=before is None)
    return advance.advance(before or ClusterState(), batch)[0]


def snapshot(
    tree: AnyTree | None = None,
    *,
    name: str = "demo",
    revision: int = 5,
    as_of: float | None = None,
    phase: Phase = Phase.LIVE,
    findings: tuple[Finding, ...] = (),
    changes: tuple[Change, ...] = (),
    incidents: Incidents | None = None,
    causes: tuple[Cause, ...] = (),
    passing: tuple[str, ...] = (),
    restless: Mapping[str, int] | None = None,
    departed: Departures | None = None,
    samples: Samples | None = None,
    lags: Lags | None = None,
    kafka_groups: KafkaGroups | None = None,
    migrations: Mapping[str, Migration] | None = None,
    first_seen: Mapping[str, int] | None = None,
    queue: Queue = EMPTY,
    alarms: Alarms | None = None,
    observations: Observations | None = None,
    **session: Any,
) -> Snapshot:
    """What a watcher would publish, true as of now; a tree of None is a cluster that was never loaded."""
    return Snapshot(
        cluster=name,
        address="127.0.0.1:2181/kafka",
        revision=revision,
        state=ClusterState() if tree is None else load(tree),
        session=Session(phase=phase, **session),
        as_of=None if tree is None else as_of or time.time(),
        stale=tree is None,
        observations=observations or Observations(findings=findings, passing=passing),
        alarms=alarms or Alarms(),
        restless=restless or {},
        departed=departed or {},
        samples=samples or Samples(),
        lags=lags or Lags(),
        kafka_groups=kafka_groups or KafkaGroups(),
        migrations=migrations or {},
        feed=Feed().loaded(1000).told(1001, changes) if changes else Feed(),
        incidents=incidents or Incidents(),
        causes=causes,
        first_seen=first_seen or {},
        queue=queue,
    )


def publish(tree: AnyTree | None = None, **fields: Any) -> Snapshot:
    """Make it the current snapshot of its cluster."""
    made = snapshot(tree, **fields)
    live.publish(made.cluster, made)
    held = _held[made.cluster] = {path: read for path, read in (tree or {}).items() if read is not None}
    for path in tuple(held):
        for end in (at for at, character in enumerate(path) if character == "/" and at):
            held.setdefault(path[:end], znode())
    live.lend(made.cluster, Znodes(lambda: held, NotAsked()))
    return made


def held(name: str) -> dict[str, Znode | Unreadable]:
    """What the mirror of a published cluster holds: its tree, and the parents that it lacks."""
    return _held[name]


def change(path: str, znode: Znode | Unreadable | None, revision: int) -> ChangedAreas:
    """Publish what follows the demo's current state, and say what it touched."""
    before, znodes = live.current("demo"), live.znodes_of("demo")
    assert before is not None
    assert znodes is not None
    batch = Batch(changed={path: znode}, zxid=2000)
    state, touched = advance.advance(before.state, batch)
    if znode is None:
        _held["demo"].pop(path, None)
    else:
        _held["demo"][path] = znode
    touched |= znodes.batch(batch)
    live.publish("demo", msgspec.structs.replace(before, state=state, revision=revision, as_of=time.time()))
    return touched
