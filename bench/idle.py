"""What a process uses while nothing changes and nobody looks, with one small cluster and with many; and how
soon it follows all again after their ZooKeeper was away."""

from __future__ import annotations

import time

from bench import progress, small_clusters, usage
from bench.result import Goal, Kept, Result
from bench.sizes import Size
from tests.serving import Served
from zkdash.demo.zookeeper.server import Server

_GOAL_MIB = 130.0
_FIRST_PAGE_S = 10.0
_ALL_AGAIN_S, _AGAIN_LIMIT_S = 20.0, 300.0
_EACH_MIB, _EACH_THREADS, _EACH_CPU = 4.0, 4.0, 0.2
# What every cluster adds to.
_OF_EACH = ("memory, MiB", "threads", "CPU, % of a core")


def run(size: Size) -> Result:
    """Measure the processes, which record what they see, one after the other."""
    many = size.small_clusters
    one = _measured(1, size.quiet_s)
    all_of_them = _measured(many, size.quiet_s)
    each = {name: (all_of_them[name] - one[name]) / (many - 1) for name in _OF_EACH}
    return Result(
        "idle",
        size.name,
        {
            "1 small cluster": one,
            f"{many} small clusters": all_of_them,
            "each more": each,
        },
        (
            Goal("memory with one small cluster, MiB", one["memory, MiB"], _GOAL_MIB, kept=Kept(210, 23)),
            Goal(
                "start to the first page of many, s",
                all_of_them["first page, s"],
                _FIRST_PAGE_S,
                is_of_core=True,
            ),
            Goal(
                "all followed again after ZooKeeper was away, s",
                all_of_them["all again, s"],
                _ALL_AGAIN_S,
                is_of_core=True,
            ),
            Goal("memory of each more, MiB", each["memory, MiB"], _EACH_MIB),
            Goal("threads of each more", each["threads"], _EACH_THREADS),
            Goal("CPU of each more, % of a core", each["CPU, % of a core"], _EACH_CPU, is_of_core=True),
        ),
    )


def _measured(clusters: int, seconds: float) -> dict[str, float]:
    """A stretch of quiet, after one as long in which what loading left has settled."""
    with (
        progress.step(f"idle: {clusters} small clusters"),
        small_clusters.surroundings(clusters) as around,
        small_clusters.started(around.environ) as started,
    ):
        process = started.process
        small_clusters.wait_until_loaded(process, clusters)
        time.sleep(seconds)
        used, began = usage.cpu_of_s(process.pid), time.monotonic()
        time.sleep(seconds)
        share = (usage.cpu_of_s(process.pid) - used) / (time.monotonic() - began)
        figures = {
            "first page, s": started.seconds,
            "memory, MiB": usage.resident_mib(process.pid),
            "threads": float(usage.threads_of(process.pid)),
            "CPU, % of a core": share * 100,
        }
        return figures | {"all again, s": _again_s(process, around.zookeeper)}


def _again_s(process: Served, zookeeper: Server) -> float:
    """From the start of a ZooKeeper that every cluster lost, until every one is followed again."""
    zookeeper.kill()
    process.wait_until_all_lost()
    zookeeper.start()
    began = time.monotonic()
    process.wait_until_all_loaded(limit_s=_AGAIN_LIMIT_S)
    return time.monotonic() - began
