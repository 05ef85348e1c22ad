"""Where the CPU of a first load or of changes goes, without ZooKeeper: `load` or `change`, topics."""

from __future__ import annotations

import cProfile
import gc
import pstats
import sys
import time
from collections.abc import Callable

from bench import tree
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.znode import Batch, Znode

_PARTITIONS = 20
_SHOWN = 40
_ROUNDS = 5


def main(what: str, topics: int) -> None:
    """Print the CPU of the best of some rounds without a profile, then one round's profile."""
    znodes = dict(tree.tree(topics=topics, partitions=_PARTITIONS, groups=topics // 10))
    whole = Batch(znodes, len(znodes), whole=True)
    if what == "load":
        before, batch = ClusterState(), whole
    else:
        before, batch = (
            advance.advance(ClusterState(), whole)[0],
            Batch(_epochs(topics), len(znodes) + topics),
        )

    def once() -> None:
        advance.advance(before, batch)

    gc.disable()  # as while a mirror loads
    best = min(_cpu_s(once) for _ in range(_ROUNDS))
    profile = cProfile.Profile()
    profile.runcall(once)
    stats = pstats.Stats(profile)
    stats.sort_stats("tottime").print_stats(_SHOWN)
    count = len(batch.changed)
    calls = stats.total_calls / count  # type: ignore[attr-defined]
    print(f"{count:,} znodes: {best / count * 1e6:.2f} µs of CPU and {calls:.1f} calls each")


def _cpu_s(action: Callable[[], None]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def _epochs(topics: int) -> dict[str, Znode]:
    """A state of every topic with another epoch of its leader."""
    changed = {}
    for topic in range(topics):
        partition = topic % _PARTITIONS
        ids = tree.replicas(topic, partition)
        path = f"/brokers/topics/{tree.topic_name(topic)}/partitions/{partition}/state"
        changed[path] = tree.znode(tree.state(ids[0], ids, leader_epoch=99), zxid=1 << 30, version=1)
    return changed


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500)
