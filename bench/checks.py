"""What the checks cost: all of them on a whole cluster, and after one change, beside loading and advancing.

All of it in one process and one run, so that what is compared had the same machine: the goals are ratios.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import TypeVar

from bench import progress, tree
from bench.result import Goal, Result
from bench.sizes import Shape, Size
from zkdash.cluster import checks
from zkdash.cluster.checks import Observations
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.znode import Batch

T = TypeVar("T")
_CHANGES = 200


def run(size: Size) -> Result:
    """Load a cluster, look at all of it, then change one partition at a time and look again."""
    many, load_s, look_s = _measure(size.whole)
    few, _, _ = _measure(size.few)
    return Result(
        "checks",
        size.name,
        {
            f"{size.whole.all_partitions:,} partitions": many,
            f"{size.few.all_partitions:,} partitions": few,
        },
        (
            Goal("all checks, share of the load", look_s / load_s, 0.3),
            Goal("checks after one change, many partitions to few", _times(many, few), 2.0),
            Goal("checks after one change, to advancing by it", _beside(many), 2.0),
        ),
    )


def _measure(shape: Shape) -> tuple[dict[str, float], float, float]:
    """The figures; seconds of the load, which judges each topic and group, and of the first look at all."""
    with progress.step(f"checks: {shape}"):
        nodes = dict(tree.tree(topics=shape.topics, partitions=shape.partitions, groups=shape.groups))
        gc.collect()
        (state, _), load_s = _timed(
            lambda: advance.advance(ClusterState(), Batch(nodes, len(nodes), whole=True))
        )
        now = tree.BEGAN / 1000
        seen, look_s = _timed(lambda: checks.observe(Observations(), state, now))
        seen = checks.observe(seen, state, now + 3)
        _, idle_s = _timed(lambda: checks.observe(seen, state, now + 4))
        advances, looks = [], []
        for number in range(_CHANGES):
            changed = _change(shape, number, len(nodes) + number)
            (state, _), advance_s = _timed(partial(advance.advance, state, changed))
            at = now + 5 + number / 1000
            seen, observe_s = _timed(partial(checks.observe, seen, state, at))
            advances.append(advance_s)
            looks.append(observe_s)
    figures = {
        "load, s": load_s,
        "all checks, s": look_s,
        "checks": float(len(checks.CHECKS)),
        "findings": float(len(seen.findings)),
        "look without a change, ms": idle_s * 1e3,
        "advance by one change, µs": median(advances) * 1e6,
        "checks after one change, µs": median(looks) * 1e6,
    }
    return figures, load_s, look_s


def _times(many: dict[str, float], few: dict[str, float]) -> float:
    return many["checks after one change, µs"] / few["checks after one change, µs"]


def _beside(figures: dict[str, float]) -> float:
    return figures["checks after one change, µs"] / figures["advance by one change, µs"]


def _change(shape: Shape, number: int, zxid: int) -> Batch:
    """Another follower leaves an ISR."""
    topic, partition = number % shape.topics, number % shape.partitions
    replicas = tree.replicas(topic, partition)
    path = f"/brokers/topics/{tree.topic_name(topic)}/partitions/{partition}/state"
    data = tree.state(replicas[0], replicas[:2], leader_epoch=number)
    return Batch({path: tree.znode(data, zxid=zxid, version=number)}, zxid)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it returns, and how many seconds that took."""
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began
