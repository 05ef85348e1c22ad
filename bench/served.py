"""A real ZooKeeper that serves a generated tree, written as the snapshot that it starts from."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench import tree
from bench.sizes import Shape
from bench.tree import Node
from tests.lab import snapshot, zookeeper
from zkdash.demo.zookeeper.server import Server
from zkdash.znode import Znode

_ROOT = tree.znode(None, zxid=0)
# The tree's ephemerals have no living owner: let their sessions outlast the bench.
_SESSION_MS = 6 * 3600 * 1000


@contextlib.contextmanager
def server(
    shape: Shape, *, heap_mb: int, release: str = zookeeper.BUNDLED, zxid: int = 0
) -> Iterator[Server]:
    """Serve the tree of this shape from a temporary directory, by a release of ZooKeeper.

    A `zxid` is the last one, of a znode beside the tree.
    """
    nodes = [("/", _ROOT), *tree.tree(**shape._asdict())]
    if zxid:
        nodes.append(("/last", tree.znode(None, zxid=zxid)))
    with serving_nodes(nodes, heap_mb=heap_mb, release=release) as running:
        yield running


@contextlib.contextmanager
def servers(shapes: Iterable[Shape], *, heap_mb: int) -> Iterator[list[Server]]:
    """As `server`, one of each shape at once."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(server(shape, heap_mb=heap_mb)) for shape in shapes]


@contextlib.contextmanager
def serving_nodes(
    nodes: Iterable[Node], *, heap_mb: int, release: str = zookeeper.BUNDLED
) -> Iterator[Server]:
    """Serve these znodes, "/" first and every parent before its children."""
    with tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory:
        _write(Path(directory, "version-2"), list(nodes))
        classpath = zookeeper.classpath(release)
        with Server(Path(directory), heap_mb=heap_mb, classpath=classpath) as running:
            yield running


def _write(directory: Path, nodes: list[Node]) -> None:
    owners = {znode.ephemeral_owner for _, znode in nodes} - {0}
    snapshot.write(directory, _as_parents(nodes), dict.fromkeys(owners, _SESSION_MS))


def _as_parents(nodes: list[Node]) -> Iterator[Node]:
    """The nodes with what their Stats should say of their children: how many were created, and when last."""
    children: dict[str, tuple[int, int]] = {}
    for path, znode in nodes[1:]:
        parent = path.rpartition("/")[0] or "/"
        children[parent] = (children.get(parent, (0, 0))[0] + 1, znode.czxid)
    for path, znode in nodes:
        if path in children:
            count, last = children[path]
            stat = znode.stat._replace(cversion=count, num_children=count, pzxid=last)
            yield path, Znode.of(znode.data, stat)
        else:
            yield path, znode
