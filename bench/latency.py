"""From a write in ZooKeeper to the fragment at a socket, beside kazoo's bare watch callback.

Both hear the same kind of writes, one after the other, each on a server of its own. A write counts as
heard when the first frame came whose zxid includes it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict

from bench import progress, served, serving
from bench.result import Goal, Kept, Number, Result
from bench.side import Figures, Side
from bench.sizes import Shape, Size

_SHAPE = Shape(40, 10, 5)
_RATE = 1_000
_BATCH_MS = 50
_GOAL_MS = 56
_LIMIT_S = 120.0

Trace = list[tuple[str, int, float]]  # path, zxid, epoch second when the write was posted


def run(size: Size) -> Result:
    """Measure both."""
    seconds = size.seconds
    ours = _figures(_of_socket(seconds))
    bare = _figures(_of_kazoo(seconds))
    kept = Kept(2 * (bare["p99, ms"] + _BATCH_MS), 24)
    return Result(
        "latency",
        size.name,
        {"zkdash, at the socket": ours, "kazoo watch callback": bare},
        (Goal("p99 from write to fragment, ms", ours["p99, ms"], _GOAL_MS, kept=kept),),
    )


def _of_socket(seconds: float) -> list[float]:
    with (
        progress.step(f"latency: a socket, {_RATE} changes a second"),
        served.server(_SHAPE, heap_mb=256) as zookeeper,
        serving.serving(zookeeper.address, _SHAPE.topics) as process,
        Side("socket_ear", process.address) as ear,
    ):
        trace, heard = _run(zookeeper.address, ear, seconds)
    zxids = [zxid for zxid, _ in heard["heard"]]
    times = [at for _, at in heard["heard"]]
    indexes = ((bisect_left(zxids, zxid), posted) for _, zxid, posted in trace)
    return [times[index] - posted for index, posted in indexes if index < len(times)]


def _of_kazoo(seconds: float) -> list[float]:
    """A callback answers the first write to its path after the read that set the watch."""
    with (
        progress.step(f"latency: kazoo's callbacks, {_RATE} changes a second"),
        served.server(_SHAPE, heap_mb=256) as zookeeper,
        Side("kazoo_ear", zookeeper.address) as ear,
    ):
        trace, heard = _run(zookeeper.address, ear, seconds)
    writes: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for path, zxid, posted in trace:
        writes[path].append((zxid, posted))
    found = []
    for path, mzxid, at in heard["heard"]:
        index = bisect_right(writes[path], (mzxid, float("inf")))
        found.append(at - writes[path][index][1])
    return found


def _run(zookeeper: str, ear: Side, seconds: float) -> tuple[Trace, Figures]:
    ear.heard(limit_s=_LIMIT_S)
    with Side("writer", zookeeper) as writer:
        writer.tell(what="states", rate=_RATE, seconds=seconds, trace=True)
        trace = writer.heard(limit_s=_LIMIT_S)["trace"]
    ear.tell(until=trace[-1][1])
    return trace, ear.heard(limit_s=_LIMIT_S)


def _figures(latencies: list[float]) -> dict[str, Number]:
    ordered = sorted(latencies)
    at = {name: ordered[int(len(ordered) * share)] * 1e3 for name, share in (("p50", 0.5), ("p99", 0.99))}
    return {"heard": len(ordered), "p50, ms": at["p50"], "p99, ms": at["p99"]}
