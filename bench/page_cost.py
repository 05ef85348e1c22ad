"""What a page of 50 rows costs from memory, in a large cluster and in a tenth of it."""

from __future__ import annotations

from bench import progress, served, side
from bench.result import Goal, Number, Result
from bench.side import Figures
from bench.sizes import Shape, Size

_LIMIT_S = 300.0
_PAGE_MS = 15.0
_ROW_MS = 0.002


def run(size: Size) -> Result:
    """Measure both, each on a server and in a process of its own."""
    whole, tenth = _measured(size.whole, size), _measured(size.whole.tenth(), size)
    scanned_ms = _PAGE_MS + _ROW_MS * whole["topics"]
    return Result(
        "page_cost",
        size.name,
        {f"{whole['topics']:,} topics": _figures(whole), f"{tenth['topics']:,} topics": _figures(tenth)},
        (
            Goal("default query, ms of CPU", whole["default"], _PAGE_MS),
            Goal("default query, many topics to a tenth", whole["default"] / tenth["default"], 1.2),
            Goal("filter, ms of CPU", whole["filter"], scanned_ms),
            Goal("sort, ms of CPU", whole["sort"], scanned_ms),
        ),
    )


def _measured(shape: Shape, size: Size) -> Figures:
    with (
        progress.step(f"page_cost: pages of {shape}"),
        served.server(shape, heap_mb=size.heap_mb) as server,
    ):
        return side.measured("pages", server.address, limit_s=_LIMIT_S)


def _figures(told: Figures) -> dict[str, Number]:
    return {f"Topics page, {name}, ms": told[name] for name in ("default", "filter", "sort")}
