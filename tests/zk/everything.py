"""A whole tree as ZooKeeper holds it, with every number of its Stat that a write would change."""

from __future__ import annotations

from kazoo.client import KazooClient

Found = dict[str, tuple[bytes | None, int, int, int, int]]


def below(client: KazooClient, root: str = "/") -> Found:
    """By path: data, czxid, mzxid, pzxid and version of the root and of everything below it."""
    found: Found = {}
    waiting = [root]
    while waiting:
        path = waiting.pop()
        data, stat = client.get(path)
        found[path] = (data, stat.czxid, stat.mzxid, stat.pzxid, stat.version)
        base = path.rstrip("/")
        waiting += [f"{base}/{name}" for name in client.get_children(path)]
    return found
