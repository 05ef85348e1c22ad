"""A real ZooKeeper that serves a generated tree, written as the snapshot that it starts from."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import tree
from bench.sizes import Shape
from zkdash.demo.zookeeper import Server
from zkdash.formats import snapshot

_ROOT = tree.znode(None, zxid=0)
# The tree's ephemerals have no living owner: let their sessions outlast the bench.
_SESSION_MS = 6 * 3600 * 1000


@contextlib.contextmanager
def server(shape: Shape, *, heap_mb: int) -> Iterator[Server]:
    """Serve the tree of this shape from a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory:
        _write(Path(directory, "version-2"), shape)
        with Server(Path(directory), heap_mb=heap_mb) as running:
            yield running


def _write(directory: Path, shape: Shape) -> None:
    znodes = [("/", _ROOT), *tree.tree(topics=shape.topics, partitions=shape.partitions, groups=shape.groups)]
    owners = {znode.ephemeral_owner for _, znode in znodes} - {0}
    snapshot.write(directory, znodes, dict.fromkeys(owners, _SESSION_MS))
