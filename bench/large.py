"""What is larger than it should be.

Very many znodes, topics of thousands of partitions, directories of a hundred thousand children, and tens of
thousands of changes at once.
"""

from __future__ import annotations

from typing import Final

from bench import pages, progress, served, side, stretch
from bench.result import Goal, Number, Result
from bench.sizes import Shape, Size

_LIMIT_S: Final = 600.0
_MIB: Final = 1024 * 1024
_HEAP_MB_A_ZNODE: Final = 512 / 478_000
_SECONDS_A_ZNODE: Final = 5.0 / 478_000  # as the reference size takes
_PAGE_MS: Final = 30.0
_A_BURST_S: Final = 1.0


def run(size: Size) -> Result:
    """Load each tree and show its pages; the burst comes over the tree of the reference size."""
    sides = {name: _loaded(name, shape, size) for name, shape in size.large.items()}
    sides[f"{size.burst:,} changes at once"] = burst = _burst(size)
    goals = [
        goal
        for name, figures in sides.items()
        if "znodes" in figures
        for goal in (
            Goal(
                f"{name}: first page rendered, s",
                figures["first page rendered, s"],
                2.0 + _SECONDS_A_ZNODE * figures["znodes"] * 2,
                is_of_core=True,
            ),
            Goal(f"{name}: dearest page, ms", figures["dearest page, ms"], _PAGE_MS, is_of_core=True),
        )
    ]
    seen = Goal(
        "a burst: all seen after the last change, s",
        burst["all seen after the last, s"],
        10.0,
        is_of_core=True,
    )
    return Result("large", size.name, sides, (*goals, seen))


def _znodes(shape: Shape) -> int:
    """About as many."""
    topics = shape.topics * (3 + 2 * shape.partitions)
    return topics + shape.groups * (8 + 2 * shape.partitions) + shape.dead * (3 + shape.partitions)


def _loaded(name: str, shape: Shape, size: Size) -> dict[str, Number]:
    heap_mb = max(size.heap_mb, int(_HEAP_MB_A_ZNODE * _znodes(shape)))
    with progress.step(f"large: {name}"), served.server(shape, heap_mb=heap_mb) as server:
        load = side.measured("first_page", server.address, limit_s=_LIMIT_S)
        [paged] = pages.paged([server.address])
    costs = {page: queries["default"] for page, queries in paged["pages"].items()}
    return {
        "znodes": load["znodes"],
        "first page rendered, s": load["seconds"],
        "CPU, µs a znode": load["cpu_s"] / load["znodes"] * 1e6,
        "memory held, MiB": load["held_bytes"] / _MIB,
        "Topics, ms": costs["Topics"],
        "Topic, ms": costs["Topic"],
        "Groups, ms": costs["Groups"],
        "dearest page, ms": max(costs.values()),
    }


def _burst(size: Size) -> dict[str, Number]:
    with (
        progress.step(f"large: {size.burst} changes"),
        served.server(size.whole, heap_mb=size.heap_mb) as server,
    ):
        return stretch.on(server.address, _A_BURST_S, what="states", rate=size.burst)
