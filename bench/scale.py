"""What a cluster costs from 1 000 partitions to 400 000: lines that are straight or flat.

Each size has a server of its own. Its pages are asked for in turns with those of a smallest cluster beside
it: sizes are minutes apart, and a core is not as fast all the time. `python -m bench.scale_drawn` draws what
this row tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bench import pages, progress, served, side, stretch
from bench.result import Goal, Number, Result
from bench.sizes import Shape, Size
from bench.update_cost import STATES_A_SECOND

LOAD, MEMORY, CHANGE, PAGE, SORTED = (
    "first page rendered, s",
    "memory held, MiB",
    "CPU, µs a change",
    "Topics, ms",
    "Topics sorted, ms",
)
ZNODE: Final = "CPU, µs a znode"
_TO_SMALLEST: Final = "Topics, to the smallest's"

_LIMIT_S = 600.0
_PARTITIONS = 20
_MIB = 1024 * 1024
# A server holds some 600 bytes a znode.
_HEAP_MB_A_PARTITION = 512 / 200_000


def run(size: Size) -> Result:
    """Measure one size after the other, the smallest first."""
    smallest = _shape(min(size.scale))
    with served.server(smallest, heap_mb=size.heap_mb) as beside:
        sides = {
            f"{partitions:,} partitions": _measured(partitions, size, beside.address)
            for partitions in size.scale
        }
    least, *_, most = sides.values()
    large = [figures for figures in sides.values() if figures["znodes"] >= most["znodes"] / 10]
    return Result(
        "scale",
        size.name,
        sides,
        (
            Goal("CPU a znode, the largest to a tenth", _times(ZNODE, large[0], most), 1.2),
            Goal("CPU a change, the largest to the smallest", _times(CHANGE, least, most), 1.5),
            Goal("Topics page, the largest to the smallest", most[_TO_SMALLEST], 1.2),
        ),
    )


def _times(name: str, least: Mapping[str, Number], most: Mapping[str, Number]) -> float:
    return most[name] / least[name]


def _shape(partitions: int) -> Shape:
    return Shape(partitions // _PARTITIONS, _PARTITIONS, partitions // (10 * _PARTITIONS))


def _measured(partitions: int, size: Size, beside: str) -> dict[str, Number]:
    """The figures of a cluster of so many partitions, and of its pages to those of the cluster `beside`."""
    shape = _shape(partitions)
    heap_mb = max(size.heap_mb, int(partitions * _HEAP_MB_A_PARTITION))
    with progress.step(f"scale: {shape}"), served.server(shape, heap_mb=heap_mb) as server:
        load = side.measured("first_page", server.address, limit_s=_LIMIT_S)
        change = stretch.on(server.address, size.seconds, what="states", rate=STATES_A_SECOND)
        paged, smallest = pages.paged([server.address, beside], "Topics")
    return {
        "znodes": load["znodes"],
        LOAD: load["seconds"],
        ZNODE: load["cpu_s"] / load["znodes"] * 1e6,
        MEMORY: load["held_bytes"] / _MIB,
        CHANGE: change[CHANGE],
        PAGE: paged["pages"]["Topics"]["default"],
        SORTED: paged["pages"]["Topics"]["sort"],
        _TO_SMALLEST: pages.ratio("Topics", paged, smallest),
    }
