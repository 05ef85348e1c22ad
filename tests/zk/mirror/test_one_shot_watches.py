"""The image against a ZooKeeper with one-shot watches only: every answer comes by itself, between any writes.

The model is that of `test_image`, with the watches of org.apache.zookeeper.server.DataTree before 3.6: a read
leaves one, an event takes it away, and setWatches tells at once what changed since its transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import settings

from tests import full
from tests.zk.mirror import test_znode_store
from zkdash.zk.mirror import reading, stale_paths
from zkdash.zk.mirror.znode_store import ZnodeStore
from zkdash.znode import Znode


class OneShotModel(test_znode_store.Model):
    """A tree and one connection; of a request for many paths one is served at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.data: set[str] = set()
        self.child: set[str] = set()
        self.read: set[str] = set()
        self._serving: Iterator[None] | None = None

    def lose(self) -> None:
        """Forget what belongs to the connection."""
        self.data.clear()
        self.child.clear()
        self._serving = None

    def write(self, operations: list[tuple[str, str]]) -> None:
        self.zxid += 1
        for kind, path in operations:
            if self._apply(kind, path):
                self._trigger(kind, path)
        self.history.append({path: (node.data, node.mzxid) for path, node in self.tree.items()})

    def _trigger(self, kind: str, path: str) -> None:
        if path in self.data or (kind == "delete" and path in self.child):
            self.data.discard(path)
            self.wire.append(("event", path, -1))
        if kind == "delete":
            self.child.discard(path)
        parent = path.rpartition("/")[0]
        if kind != "set" and parent in self.child:
            self.child.discard(parent)
            self.wire.append(("children", parent, -1))

    def serve(self) -> None:
        if self._serving is None:
            self._serving = self._parts(self.requests[0])
        for _ in self._serving:
            return
        self._serving = None
        self.requests.popleft()

    def _parts(self, request: reading.Read | stale_paths.Watch) -> Iterator[None]:
        if isinstance(request, stale_paths.Watch):
            self._watch(request)
            return
        znodes: list[Znode | int] = []
        lists: list[list[str] | int] = []
        for path in request.gets:
            self.read.add(path)
            znodes.append(self._get(path))
            if path in self.tree:
                self.data.add(path)
            yield
        for path in request.lists:
            lists.append(self.children(path) if path in self.tree else test_znode_store.NO_NODE)
            if path in self.tree:
                self.child.add(path)
            yield
        self.wire.append(("answer", request, znodes, lists, self.zxid))

    def _watch(self, watch: stale_paths.Watch) -> None:
        for path in watch.data:
            if path not in self.tree or self.tree[path].mzxid > watch.floor:
                self.wire.append(("event", path, -1))
            else:
                self.data.add(path)
        for path in watch.exist:
            if path in self.tree:
                self.wire.append(("event", path, -1))
            else:
                self.data.add(path)
        for path in watch.child:
            if path not in self.tree:
                self.wire.append(("event", path, -1))
            elif self.tree[path].pzxid > watch.floor:
                self.wire.append(("children", path, -1))
            else:
                self.child.add(path)
        self.wire.append(("watched", watch, self.zxid))


class OneShotMachine(test_znode_store.ImageMachine):
    STEPS = 3000

    def __init__(self) -> None:
        super().__init__()
        self.model: OneShotModel = OneShotModel()

    def _connect(self) -> None:
        self.model.lose()
        self.image.begin_load(self.model.zxid, takes_older=False, is_one_shot=True, resumes=True)
        self._advance()

    def cut_with(self, operations: list[tuple[str, str]]) -> None:
        """Lose the connection, and have one transaction written meanwhile."""
        self.model.wire.clear()
        self.model.requests.clear()
        self.model.lose()
        self.image.forget()
        self.model.write(operations)

    def _take(self, item: tuple[Any, ...]) -> None:
        if item[0] == "children":
            self.image.children_changed(item[1], item[2])
        elif item[0] == "watched":
            self.image.watched(item[1], item[2])
        else:
            super()._take(item)

    def teardown(self) -> None:
        super().teardown()
        held = len(self.image.znodes)
        assert self.model.data >= self.image.znodes.keys() | set(test_znode_store.ROOTS)
        assert self.model.child >= self.image.znodes.keys()
        assert self.image.watches == 2 * held + len(set(test_znode_store.ROOTS) - self.image.znodes.keys())


TestOneShot = OneShotMachine.TestCase
TestOneShot.settings = settings(max_examples=full.pick(80, 300), stateful_step_count=60, deadline=None)


def test_a_child_that_a_wrong_pzxid_hides_is_found_by_listing_its_parent() -> None:
    """Replaying a deletion over a snapshot that has a later child sets pzxid back (ZOOKEEPER-3125)."""
    machine = OneShotMachine()
    machine.model.write([("create", "/brokers"), ("create", "/brokers/a")])
    machine._connect()
    settle(machine)
    before = machine.model.tree["/brokers"]
    machine.cut_with([("create", "/brokers/b")])
    machine.model.tree["/brokers"] = before
    machine._connect()
    settle(machine)
    assert machine.told.keys() == {"/brokers", "/brokers/a", "/brokers/b"}


def test_in_the_same_session_only_what_changed_is_read_again() -> None:
    machine = OneShotMachine()
    machine.model.write([("create", path) for path in test_znode_store.PATHS])
    machine._connect()
    settle(machine)
    machine.cut_with([("set", "/brokers/a/x"), ("delete", "/brokers/b/x")])
    machine.model.read.clear()
    machine._connect()
    settle(machine)
    assert machine.told == machine.model.history[-1]
    assert machine.model.read == {"/brokers/a/x", "/brokers/b/x"}


def test_a_znode_that_was_deleted_and_made_anew_is_watched_anew() -> None:
    machine = OneShotMachine()
    machine.model.write([("create", "/brokers"), ("create", "/brokers/a")])
    machine._connect()
    settle(machine)
    machine.model.write([("delete", "/brokers/a"), ("create", "/brokers/a")])
    settle(machine)
    machine.model.write([("create", "/brokers/a/x")])
    settle(machine)
    assert machine.told == machine.model.history[-1]


def test_an_offset_that_waited_when_the_connection_was_lost_is_read_after_it() -> None:
    machine = OneShotMachine()
    image, model, offset = ZnodeStore(("/consumers",)), machine.model, "/consumers/g/offsets/t"
    machine.image = image
    model.write([("create", "/consumers"), ("create", "/consumers/g"), ("create", "/consumers/g/offsets")])
    model.write([("create", offset)])
    machine._connect()
    settle(machine)
    model.write([("set", offset)])
    machine._take(model.wire.popleft())
    # what is read later shows no more than that the offset waits
    image.proof(1.0, model.zxid)
    machine.cut_with([])
    machine._connect()
    settle(machine)
    assert machine.told == model.history[-1]


def test_what_came_between_a_reading_and_its_watch_is_told() -> None:
    machine = OneShotMachine()
    machine.model.write([("create", "/brokers")])
    machine._connect()
    while not machine.model.requests or not isinstance(machine.model.requests[0], stale_paths.Watch):
        machine.model.serve()
        machine.deliver_all()
    machine.model.write([("create", "/brokers/a")])
    settle(machine)
    assert machine.told == machine.model.history[-1]


def settle(machine: OneShotMachine) -> None:
    """Serve and deliver until nothing is left to do."""
    for _ in range(200):
        if machine.model.requests:
            machine.model.serve()
        machine.deliver_all()
