"""The first load of a large cluster: zkdash beside the raw limit of the same server, kazoo's TreeCache and
Curator's CuratorCache.

TreeCache reads a tenth of the tree, on a server of its own, and rates are compared: the whole would
take it minutes. The others read the whole, the raw reader and zkdash from one server, each four times and
in turns: the best run of each is told, and of their ratio the median of the turns (`bench/rounds.py`).

With `ZK=3.4` or `3.5` a release serves that knows no MultiRead and keeps watches znode by znode, for which it
gets twice the heap. CuratorCache is left out there, and where the Java at hand is no JDK.
"""

from __future__ import annotations

from operator import itemgetter

from bench import curator_cache, progress, rounds, served, side
from bench.result import Goal, Kept, Number, Result
from bench.side import Figures
from bench.sizes import Shape, Size
from tests.lab.zookeeper import BUNDLED

_LIMIT_S = 1_200.0


def run(size: Size) -> Result:
    """Measure the sides, each in a process of its own."""
    is_old = size.zookeeper != BUNDLED
    reader = "raw_each_reader" if is_old else "raw_reader"
    raws, pages = _on_one_server(size, size.whole, reader, "first_page", runs=4)
    raw, page = _best(raws), _best(pages)
    ((cache,),) = _on_one_server(size, size.whole.tenth(), "tree_cache", runs=1)
    in_java: list[Figures] = []
    if not is_old and curator_cache.is_possible():
        (in_java,) = _on_one_server(size, size.whole, "curator_cache", runs=1)
    znodes = raw["znodes"]
    rate, cache_rate = znodes / page["seconds"], cache["znodes"] / cache["seconds"]
    cache_bytes = cache["held_bytes"] / cache["znodes"]
    return Result(
        "first_load",
        size.name,
        {
            "zkdash": _zkdash(page, znodes),
            "raw getData" if is_old else "raw MultiRead": _baseline(raw),
            "kazoo TreeCache": _baseline(cache) | {"memory held, B a znode": cache_bytes},
            **({"CuratorCache": _baseline(in_java[0])} if in_java else {}),
        },
        _old_goals(rate, cache_rate)
        if is_old
        else (
            *_goals_in_java(page, rate, in_java),
            Goal(
                "times faster than TreeCache, to the first whole page",
                rate / cache_rate,
                80,
                at_least=True,
                kept=Kept(60, 24),
            ),
            Goal(
                "times the raw reader's time, to the first whole page",
                rounds.ratio(*([each["seconds"] for each in told] for told in (pages, raws))),
                1.8,
                kept=Kept(2.8, 24),
            ),
            Goal("memory held, bytes a znode", page["held_bytes"] / znodes, 350, kept=Kept(440, 4)),
            Goal("memory held, share of TreeCache's", page["held_bytes"] / znodes / cache_bytes, 0.33),
        ),
    )


def _goals_in_java(page: Figures, rate: float, caches: list[Figures]) -> tuple[Goal, ...]:
    """What is held against CuratorCache, where it was measured."""
    return tuple(
        goal
        for told in caches
        for goal in (
            Goal(
                "times faster than CuratorCache, to the first whole page",
                rate * told["seconds"] / told["znodes"],
                10,
                at_least=True,
            ),
            Goal("peak memory, share of CuratorCache's JVM", page["peak_mib"] / told["peak_mib"], 0.5),
        )
    )


def _old_goals(rate: float, cache_rate: float) -> tuple[Goal, ...]:
    """What is held to where the server answers znode by znode."""
    return (
        Goal("znodes/s, to the first whole page", rate, 20_000, at_least=True, is_of_core=True),
        Goal("times faster than TreeCache, to the first whole page", rate / cache_rate, 5, at_least=True),
    )


def _on_one_server(size: Size, shape: Shape, *modules: str, runs: int) -> list[list[Figures]]:
    """Run sides in turns against one server of this shape; each one's runs."""
    heap_mb = size.heap_mb * (1 if size.zookeeper == BUNDLED else 2)
    with served.server(shape, heap_mb=heap_mb, release=size.zookeeper) as server:
        found: list[list[Figures]] = [[] for _ in modules]
        for told, module in [*zip(found, modules, strict=True)] * runs:
            with progress.step(f"first_load: {module} on {shape}"):
                told.append(side.measured(module, server.address, limit_s=_LIMIT_S))
        return found


def _best(told: list[Figures]) -> Figures:
    return min(told, key=itemgetter("seconds"))


def _zkdash(page: Figures, znodes: int) -> dict[str, Number]:
    return {
        "znodes": znodes,
        "first page rendered, s": page["seconds"],
        "whole, s": page["snapshot_s"],
        "znodes/s": znodes / page["seconds"],
        "CPU, µs a znode": page["cpu_s"] / znodes * 1e6,
        "peak memory, MiB": page["peak_mib"],
        "memory held, B a znode": page["held_bytes"] / znodes,
    }


def _baseline(told: Figures) -> dict[str, Number]:
    znodes = told["znodes"]
    return {
        "znodes": znodes,
        "whole, s": told["seconds"],
        "znodes/s": znodes / told["seconds"],
        "CPU, µs a znode": told["cpu_s"] / znodes * 1e6,
        "peak memory, MiB": told["peak_mib"],
    }
