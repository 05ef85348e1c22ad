"""The image against a ZooKeeper of a few lines: whatever the order of writes, events, reads and cuts.

The model keeps the whole tree as of every transaction. Each batch that is not settling must be exactly the
tree as of the transaction that it names, so that a multi can never show in part.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests import full
from tests.narrowing import sure
from zkdash.zk.mirror import reading, stale_paths
from zkdash.zk.mirror.znode_store import ZnodeStore
from zkdash.znode import Stat, Znode

ROOTS = ("/brokers", "/controller")
PATHS = (
    "/brokers",
    "/controller",
    "/brokers/a",
    "/brokers/b",
    "/brokers/a/state",
    "/brokers/a/x",
    "/brokers/b/state",
    "/brokers/b/x",
)
NO_NODE = -101
STEP_S = 0.02


class Node(NamedTuple):
    data: bytes
    czxid: int
    mzxid: int
    pzxid: int


class Model:
    """A tree, its history, and one client's connection: requests in, events and answers out, in order."""

    def __init__(self) -> None:
        self.zxid = 0
        self.tree: dict[str, Node] = {}
        self.history: list[dict[str, tuple[bytes, int]]] = [{}]
        self.requests: deque[reading.Read | stale_paths.Watch] = deque()
        self.wire: deque[tuple[Any, ...]] = deque()
        self.is_watched = False

    def children(self, path: str) -> list[str]:
        return [p.rpartition("/")[2] for p in self.tree if p.rpartition("/")[0] == path]

    def write(self, operations: list[tuple[str, str]]) -> None:
        """One transaction; operations that are not possible are left out."""
        self.zxid += 1
        for kind, path in operations:
            if self._apply(kind, path) and self.is_watched:
                self.wire.append(("event", path, self.zxid))
        self.history.append({path: (node.data, node.mzxid) for path, node in self.tree.items()})

    def _apply(self, kind: str, path: str) -> bool:
        parent, node, data = path.rpartition("/")[0], self.tree.get(path), b"%d" % self.zxid
        if kind == "set" and node:
            self.tree[path] = node._replace(data=data, mzxid=self.zxid)
        elif kind == "create" and not node and (not parent or parent in self.tree):
            self.tree[path] = Node(data, self.zxid, self.zxid, self.zxid)
            self._touch(parent)
        elif kind == "delete" and node and not self.children(path):
            del self.tree[path]
            self._touch(parent)
        else:
            return False
        return True

    def _touch(self, parent: str) -> None:
        if parent in self.tree:
            self.tree[parent] = self.tree[parent]._replace(pzxid=self.zxid)

    def serve(self) -> None:
        read = self.requests.popleft()
        assert isinstance(read, reading.Read)
        znodes = [self._get(path) for path in read.gets]
        lists = [self.children(path) if path in self.tree else NO_NODE for path in read.lists]
        self.wire.append(("answer", read, znodes, lists, self.zxid))

    def _get(self, path: str) -> Znode | int:
        node = self.tree.get(path)
        if node is None:
            return NO_NODE
        count = len(self.children(path))
        stat = Stat(node.czxid, node.mzxid, 0, 0, 0, 0, 0, 0, len(node.data), count, node.pzxid)
        return Znode.of(node.data, stat)


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["create", "create", "set", "delete"]), st.sampled_from(PATHS)),
    min_size=1,
    max_size=4,
)


class ImageMachine(RuleBasedStateMachine):
    STEPS = 400

    def __init__(self) -> None:
        super().__init__()
        self.model, self.image, self.now = Model(), ZnodeStore(ROOTS), 100.0
        self.told: dict[str, tuple[bytes | None, int]] = {}
        self.settled_at = 0.0

    @initialize(writes=st.lists(OPERATIONS, max_size=6), cap=st.sampled_from([1, 2, reading.MAX_PATHS]))
    def connect(self, writes: list[list[tuple[str, str]]], cap: int) -> None:
        self.image._cap = cap
        for operations in writes:
            self.model.write(operations)
        self._connect()

    @rule(operations=OPERATIONS)
    def write(self, operations: list[tuple[str, str]]) -> None:
        self.model.write(operations)

    @rule()
    def serve(self) -> None:
        if self.model.requests:
            self.model.serve()

    @rule(count=st.integers(1, 6))
    def deliver(self, count: int) -> None:
        """Take what arrived in one go, as the I/O thread hands it on, and only then act."""
        for _ in range(min(count, len(self.model.wire))):
            self._take(self.model.wire.popleft())
        self._advance()

    def deliver_all(self) -> None:
        while self.model.wire:
            self._take(self.model.wire.popleft())
        self._advance()

    @rule(steps=st.integers(1, 30))
    def wait(self, steps: int) -> None:
        for _ in range(steps):
            self._advance()

    @rule(operations=st.lists(OPERATIONS, max_size=4))
    def cut(self, operations: list[list[tuple[str, str]]]) -> None:
        """Lose the connection with all that is on it, and come back after some writes."""
        self.model.wire.clear()
        self.model.requests.clear()
        self.model.is_watched = False
        self.image.forget()
        for transaction in operations:
            self.model.write(transaction)
        self._connect()

    @invariant()
    def window_is_kept(self) -> None:
        assert len(self.model.requests) <= reading.WINDOW

    def teardown(self) -> None:
        """Once nothing is written any more, the image becomes the tree."""
        for _ in range(self.STEPS):
            if self.model.requests:
                self.model.serve()
            if self.model.wire:
                self._take(self.model.wire.popleft())
            self._advance()
        assert self.told == self.model.history[-1]
        held = {path: sure(Znode, znode) for path, znode in self.image.znodes.items()}
        assert {path: (znode.data, znode.mzxid) for path, znode in held.items()} == self.told

    def _connect(self) -> None:
        self.model.is_watched = True
        self.image.begin_load(self.model.zxid, takes_older=False)
        self._advance()

    def _take(self, item: tuple[Any, ...]) -> None:
        if item[0] == "event":
            self.image.event(item[1], item[2], self.now)
        else:
            _, read, znodes, lists, zxid = item
            self.image.answer(read, znodes, lists, zxid, self.now)

    def _advance(self) -> None:
        """One turn of a mirror's apply thread."""
        self.now += STEP_S
        self.image.advance(self.now)
        batch = self.image.due(self.now)
        if batch is not None:
            for path, value in batch.changed.items():
                if value is None:
                    self.told.pop(path, None)
                else:
                    assert isinstance(value, Znode)
                    self.told[path] = (value.data, value.mzxid)
            self.image.published(batch, self.now)
            if not batch.settling:
                assert self.told == self.model.history[batch.zxid]
        while (read := self.image.next_read(self.now)) is not None:
            self.model.requests.append(read)


TestImage = ImageMachine.TestCase
TestImage.settings = settings(max_examples=full.pick(80, 300), stateful_step_count=60, deadline=None)


def test_a_change_seen_before_the_answer_that_includes_it_holds_the_batch_back() -> None:
    machine = ImageMachine()
    machine.model.write([("create", "/brokers"), ("create", "/controller")])
    machine._connect()
    for _ in range(4):
        if machine.model.requests:
            machine.model.serve()
        machine.deliver_all()
    assert machine.told == machine.model.history[-1]
    machine.model.write([("set", "/brokers")])
    machine.deliver_all()
    machine.model.write([("set", "/brokers"), ("set", "/controller")])
    machine.model.serve()
    before = dict(machine.told)
    machine.deliver_all()
    assert machine.told == before
    machine.model.serve()
    machine.deliver_all()
    machine.wait(5)
    assert machine.told == machine.model.history[-1]
