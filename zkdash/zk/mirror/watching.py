"""The one-shot watches of ZooKeeper before 3.6: which a znode needs beside the one that its reading left.

A getData leaves a watch on the data where it succeeds, and a znode that may have children needs one on them.
What is absent or refused gets its watch by setWatches, which asks for no right.
"""

from __future__ import annotations

from collections.abc import Collection

from zkdash.zk.mirror.results import Value
from zkdash.zk.mirror.stale_paths import StalePaths
from zkdash.zk.wire import jute
from zkdash.znode import Unreadable, Znode


def need(
    dirty: StalePaths, path: str, result: Znode | int, *, roots: Collection[str], floor: int, age: int | None
) -> None:
    """Note the watch that a path needs whose reading gave `result`, as of `floor` or later."""
    if isinstance(result, Znode):
        if may_have_children(result):
            watch = dirty.watch(floor, age)
            watch.add(watch.child, path)
    elif result != jute.NO_NODE:
        watch = dirty.watch(floor, age)
        watch.add(watch.data, path)
    elif path in roots:
        watch = dirty.watch(floor, age)
        watch.add(watch.exist, path)


def may_have_children(znode: Znode) -> bool:
    """Whether the znode is no ephemeral: containers and those with a time to live have a negative owner."""
    return znode.ephemeral_owner <= 0


def count(value: Value | None) -> int:
    """How many watches stand on what is held."""
    if value is None:
        return 0
    return 1 if isinstance(value, Unreadable) or not may_have_children(value) else 2
