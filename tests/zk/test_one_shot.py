"""The image against a ZooKeeper with one-shot watches only: every answer comes by itself, between any writes.

The model is that of `test_image`, with the watches of org.apache.zookeeper.server.DataTree before 3.6: a read
leaves one, an event takes it away, and setWatches tells at once what changed since its transaction.
"""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import settings

from tests.zk import test_image
from zkdash.zk import dirty, reading
from zkdash.znode import Znode


class OneShotModel(test_image.Model):
    """A tree and one connection; of a request for many paths one is served at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.data: set[str] = set()
        self.child: set[str] = set()
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

    def _parts(self, request: reading.Read | dirty.Watch) -> Iterator[None]:
        if isinstance(request, dirty.Watch):
            self._watch(request)
            return
        znodes: list[Znode | int] = []
        lists: list[list[str] | int] = []
        for path in request.gets:
            znodes.append(self._get(path))
            if path in self.tree:
                self.data.add(path)
            yield
        for path in request.lists:
            lists.append(self.children(path) if path in self.tree else test_image.NO_NODE)
            if path in self.tree:
                self.child.add(path)
            yield
        self.wire.append(("answer", request, znodes, lists, self.zxid))

    def _watch(self, watch: dirty.Watch) -> None:
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


class OneShotMachine(test_image.ImageMachine):
    STEPS = 3000

    def __init__(self) -> None:
        super().__init__()
        self.model: OneShotModel = OneShotModel()

    def _connect(self) -> None:
        self.model.lose()
        self.image.begin_load(self.model.zxid, takes_older=False, is_one_shot=True, resumes=True)
        self._advance()

    def _take(self, item: tuple[object, ...]) -> None:
        if item[0] == "children":
            self.image.children_changed(item[1], item[2])  # type: ignore[arg-type]
        elif item[0] == "watched":
            self.image.watched(item[1], item[2])  # type: ignore[arg-type]
        else:
            super()._take(item)

    def teardown(self) -> None:
        super().teardown()
        held = len(self.image.znodes)
        assert self.model.data >= self.image.znodes.keys() | set(test_image.ROOTS)
        assert self.model.child >= self.image.znodes.keys()
        assert self.image.watches == 2 * held + len(set(test_image.ROOTS) - self.image.znodes.keys())


TestOneShot = OneShotMachine.TestCase
TestOneShot.settings = settings(max_examples=300, stateful_step_count=60, deadline=None)
