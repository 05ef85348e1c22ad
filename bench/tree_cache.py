"""The baseline of the first load: kazoo's own TreeCache over the whole tree."""

from __future__ import annotations

import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.cache import TreeCache, TreeEvent

from bench import side, usage

_LIMIT_S = 1_800


def main(address: str) -> None:
    whole = threading.Event()
    held, cpu, started = usage.resident_bytes(), usage.cpu_s(), time.perf_counter()
    client = KazooClient(hosts=address, timeout=30.0)
    client.start(timeout=30)
    cache = TreeCache(client, "/")

    def hear(event: TreeEvent) -> None:
        if event.event_type == TreeEvent.INITIALIZED:
            whole.set()

    cache.listen(hear)
    cache.start()
    if not whole.wait(_LIMIT_S):
        raise TimeoutError(f"TreeCache was not whole after {_LIMIT_S} s")
    seconds, cpu = time.perf_counter() - started, usage.cpu_s() - cpu
    held = usage.resident_bytes() - held
    side.say(znodes=_count(cache), seconds=seconds, cpu_s=cpu, peak_mib=usage.peak_mib(), held_bytes=held)
    client.stop()
    client.close()


def _count(cache: TreeCache) -> int:
    """How many znodes the cache holds, by its public calls."""
    count, unvisited = 0, ["/"]
    while unvisited:
        path = unvisited.pop()
        count += 1
        prefix = path.rstrip("/")
        unvisited.extend(f"{prefix}/{child}" for child in cache.get_children(path, default=()))
    return count


if __name__ == "__main__":
    main(sys.argv[1])
