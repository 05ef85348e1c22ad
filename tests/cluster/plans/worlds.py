"""Clusters of each era as small trees of znodes, which the steps of a plan can be applied to.

`Tree` does what ZooKeeper's multi does: all or nothing, versions compared, no parent missing. Its
controller carries out what was asked for, as far as the znodes of that are concerned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.narrowing import known
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import planner
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Ground, Operation, Plan, Step, Write
from zkdash.cluster.reducer import advance
from zkdash.kafka import editing
from zkdash.znode import Batch, Stat, Znode

# The version of the registrations, and of a topic's assignment, of each release that was tried for real.
RELEASES = {
    "0.8.2.2": (1, 1),
    "0.9.0.1": (2, 1),
    "0.10.2.2": (4, 1),
    "1.1.1": (4, 1),
    "2.8.2": (5, 3),
    "3.9.1": (5, 3),
}
ERAS = ("0.7", *RELEASES, "0.8 and newer", "KRaft")
SESSION = 77
TOPIC_ID = "abcdefghijklmnopqrstuv"


class Refused(Exception):  # noqa: N818 - an answer, as ZooKeeper gives it
    """A multi that ZooKeeper would refuse."""


def dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Tree:
    """AnyTree by path, with the versions that ZooKeeper would give them."""

    def __init__(self) -> None:
        self.znodes: dict[str, Znode] = {}
        self.zxid = 0
        # The znodes and the state that was made of them last.
        self._seen: tuple[tuple[int, dict[str, Znode]], ClusterState] | None = None

    @classmethod
    def of(cls, znodes: Mapping[str, Znode]) -> Tree:
        """A tree of znodes as they were recorded."""
        tree = cls()
        tree.znodes = dict(znodes)
        tree.zxid = max(znode.mzxid for znode in znodes.values())
        return tree

    def put(self, path: str, data: object = None, *, owner: int = 0) -> None:
        """Create or set, with all parents."""
        parent = path.rpartition("/")[0]
        if parent and parent not in self.znodes:
            self.put(parent)
        raw = data if data is None or isinstance(data, bytes) else dump(data)
        self.zxid += 1
        before = self.znodes.get(path)
        czxid, version = (before.czxid, before.version + 1) if before else (self.zxid, 0)
        stat = Stat(czxid, self.zxid, czxid, self.zxid, version, 0, 0, owner, len(raw or b""), 0, 0)
        self.znodes[path] = Znode.of(raw, stat)

    def state(self) -> ClusterState:
        """What a mirror would make of it."""
        if self._seen is None or self._seen[0] != (self.zxid, self.znodes):
            znodes = dict(self.znodes)
            after, _ = advance.advance(ClusterState(), Batch(znodes, self.zxid, whole=True))
            self._seen = (self.zxid, znodes), after
        return self._seen[1]

    def plan(self, intent: Intent, **more: int) -> Plan:
        """The plan on this tree, of which only what is asked for has been read."""
        asked = planner.needs(intent)
        wanted = {
            path: znode
            for path, znode in self.znodes.items()
            if path in asked.paths or any(path == r or path.startswith(r + "/") for r in asked.subtrees)
        }
        return planner.plan(intent, Ground(self.state(), wanted, **more))

    def apply(self, step: Step) -> None:
        """All writes of a step, or none."""
        before = dict(self.znodes)
        try:
            for write in step.writes:
                self._apply(write)
        except Refused:
            self.znodes = before
            raise

    def run(self, plan: Plan) -> None:
        """Every step, the controller's work after each."""
        assert plan.refusals == ()
        for step in plan.steps:
            self.apply(step)
            self.settle()

    def data(self, path: str) -> Any:
        return json.loads(known(self.znodes[path].data))

    def content(self) -> dict[str, bytes | None]:
        """The data by path, without the notifications and what only tells of elections."""
        return {
            path: znode.data
            for path, znode in self.znodes.items()
            if not path.startswith("/config/changes/") and path != "/controller_epoch"
        }

    def _apply(self, write: Write) -> None:
        found = self.znodes.get(write.path)
        if write.operation is Operation.CREATE:
            self._create(write, found)
            return
        if found is None or found.version != write.expected:
            raise Refused(write.path)
        if write.operation is Operation.SET:
            self.put(write.path, self._after(write, found), owner=found.ephemeral_owner)
        elif write.operation is Operation.DELETE:
            if any(path.startswith(write.path + "/") for path in self.znodes):
                raise Refused(write.path)
            del self.znodes[write.path]

    def _create(self, write: Write, found: Znode | None) -> None:
        path = f"{write.path}{self.zxid:010}" if write.sequential else write.path
        if found is not None or path.rpartition("/")[0] not in self.znodes:
            raise Refused(path)
        self.put(path, self._after(write, None))

    @staticmethod
    def _after(write: Write, found: Znode | None) -> bytes | None:
        if write.edit is None:
            return write.after
        return editing.merge_config(found and found.data, write.edit.put, write.edit.drop)

    # The controller

    def settle(self) -> None:
        """Carry out what was asked for."""
        if "/controller" not in self.znodes and "/controller_epoch" in self.znodes:
            epoch = int(known(self.znodes["/controller_epoch"].data))
            self.put("/controller", {"version": 1, "brokerid": 2, "timestamp": "1"}, owner=SESSION)
            self.put("/controller_epoch", str(epoch + 1).encode())
        moves: dict[str, dict[str, list[int]]] = {}
        for entry in self._taken("/admin/reassign_partitions"):
            moves.setdefault(entry["topic"], {})[str(entry["partition"])] = entry["replicas"]
        for name, targets in moves.items():
            self._move(name, targets)
        for entry in self._taken("/admin/preferred_replica_election"):
            lists = self.data(f"/brokers/topics/{entry['topic']}")["partitions"]
            self._lead(entry["topic"], entry["partition"], lists[str(entry["partition"])])
        for path in [p for p in self.znodes if p.startswith("/admin/delete_topics/")]:
            self._forget(path)
        for path in [p for p in self.znodes if p.startswith("/brokers/topics/") and p.count("/") == 3]:
            lists = self.data(path)["partitions"] if self.znodes[path].data else {}
            for number, replicas in lists.items():
                if f"{path}/partitions/{number}/state" not in self.znodes:
                    self._lead(path.rpartition("/")[2], number, replicas)

    def _taken(self, path: str) -> list[dict[str, Any]]:
        return json.loads(known(self.znodes.pop(path).data))["partitions"] if path in self.znodes else []

    def _move(self, topic: str, targets: Mapping[str, list[int]]) -> None:
        path = f"/brokers/topics/{topic}"
        document = self.data(path)
        document["partitions"].update(targets)
        for field in ("adding_replicas", "removing_replicas"):
            for number in targets:
                document.get(field, {}).pop(number, None)
        self.put(path, document)
        for number, replicas in targets.items():
            self._lead(topic, number, replicas)

    def _lead(self, topic: str, number: int | str, replicas: Sequence[int]) -> None:
        led = {"controller_epoch": 1, "leader": replicas[0], "version": 1, "leader_epoch": 1, "isr": replicas}
        self.put(f"/brokers/topics/{topic}/partitions/{number}/state", led)

    def _forget(self, mark: str) -> None:
        name = mark.rpartition("/")[2]
        root = f"/brokers/topics/{name}"
        for path in [p for p in self.znodes if p == root or p.startswith(root + "/")]:
            del self.znodes[path]
        self.znodes.pop(f"/config/topics/{name}", None)
        del self.znodes[mark]


def world(era: str) -> Tree:
    """Three brokers (of 0.7: two) and a fourth that is idle, a topic "t", a group "g" that nobody is in."""
    tree = Tree()
    if era == "0.7":
        return _old(tree)
    registration, version = RELEASES.get(era, (4, 1))
    for number in (1, 2, 3, 4):
        old = era == "0.8 and newer" and number == 1
        register(tree, number, 1 if old else registration)
    for path in ("/admin/delete_topics", "/config/changes", "/config/topics", "/brokers/topics"):
        tree.put(path)
    topic(tree, "t", {0: [1, 2, 3], 1: [2, 3, 1]}, version)
    led = {"controller_epoch": 1, "leader": 3, "version": 1, "leader_epoch": 1, "isr": [1, 2, 3]}
    tree.put("/brokers/topics/t/partitions/1/state", led)
    tree.put("/config/topics/t", {"version": 1, "config": {"retention.ms": "1"}})
    tree.put("/config/topics/gone", {"version": 1, "config": {}})
    tree.put("/controller_epoch", b"5")
    kraft = {"kraftControllerEpoch": 3} if era == "KRaft" else {}
    controller = {"version": 1, "brokerid": 1, "timestamp": "1", **kraft}
    tree.put("/controller", controller, owner=SESSION)
    if registration >= 4 and era != "0.10.2.2":  # whose brokers do not make it
        tree.put("/config/brokers")
    return _group(tree, ("0", "1"))


def migration(controller: int, *, epoch: int = 1, offset: int = -1) -> bytes:
    """/migration as a KRaft controller writes it; -1 before it has taken over."""
    return dump(
        {
            "version": 0,
            "kraft_controller_id": controller,
            "kraft_controller_epoch": epoch,
            "kraft_metadata_offset": offset,
            "kraft_metadata_epoch": epoch if offset >= 0 else -1,
        }
    )


def register(tree: Tree, number: int, version: int, rack: str | None = None) -> None:
    endpoints = {} if version == 1 else {"endpoints": [f"PLAINTEXT://h{number}:9092"]}
    more = {"rack": rack} if rack else {}
    document = {"version": version, "host": f"h{number}", "port": 9092, **endpoints, **more}
    tree.put(f"/brokers/ids/{number}", document, owner=SESSION + number)


def topic(
    tree: Tree, name: str, partitions: Mapping[int, Sequence[int]], version: int = 1, **more: object
) -> None:
    """A topic whose preferred leaders lead, with all replicas in sync."""
    document = {"version": version, "partitions": {str(p): replicas for p, replicas in partitions.items()}}
    if version >= 2:
        document |= {"adding_replicas": {}, "removing_replicas": {}}
    if version >= 3:
        document |= {"topic_id": TOPIC_ID}
    tree.put(f"/brokers/topics/{name}", document | more)
    for number, replicas in partitions.items():
        led = {"controller_epoch": 1, "leader": replicas[0], "version": 1, "leader_epoch": 1, "isr": replicas}
        tree.put(f"/brokers/topics/{name}/partitions/{number}/state", led)


def _group(tree: Tree, parts: tuple[str, ...]) -> Tree:
    tree.put("/consumers/g/ids")
    for part in parts:
        tree.put(f"/consumers/g/offsets/t/{part}", b"100")
    tree.put("/consumers/g/owners/t")
    return tree


def _old(tree: Tree) -> Tree:
    for number in (1, 2):
        creator = f"h{number}-1700000000000:h{number}:9092"
        tree.put(f"/brokers/ids/{number}", creator.encode(), owner=SESSION)
        tree.put(f"/brokers/topics/t/{number}", b"2", owner=SESSION)
    return _group(tree, ("1-0", "1-1"))
