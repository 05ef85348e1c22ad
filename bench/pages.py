"""What a page of 50 rows costs from memory, every one of them, in a large cluster and in a tenth of it."""

from __future__ import annotations

from bench import progress, served, side
from bench.result import Goal, Number, Result
from bench.side import Figures
from bench.sizes import Shape, Size

_LIMIT_S = 300.0
_PAGE_MS = 6.0
_ROW_MS = 0.0006  # of each, where a filter or a sort looks at all
_SAME = 1.1  # of the larger cluster's cost to the smaller's


def run(size: Size) -> Result:
    """Measure both, each on a server and in a process of its own."""
    whole, tenth = measured(size.whole, size, "pages"), measured(size.whole.tenth(), size, "pages")
    return Result(
        "pages",
        size.name,
        {
            f"{whole['topics']:,} topics": figures(whole),
            f"{tenth['topics']:,} topics": figures(tenth),
        },
        goals(whole, tenth),
    )


def measured(shape: Shape, size: Size, row: str) -> Figures:
    """The milliseconds of CPU of each page and query over a tree of this shape."""
    with (
        progress.step(f"{row}: pages of {shape}"),
        served.server(shape, heap_mb=size.heap_mb) as server,
    ):
        return side.measured("paging", server.address, limit_s=_LIMIT_S)


def figures(told: Figures) -> dict[str, Number]:
    return {
        f"{page}, {query}, ms": ms for page, costs in told["pages"].items() for query, ms in costs.items()
    }


def goals(whole: Figures, tenth: Figures) -> tuple[Goal, ...]:
    """The default query costs the same at any size; a filter or a sort may look at every row."""
    found = []
    for page, costs in whole["pages"].items():
        scanned_ms = _PAGE_MS + _ROW_MS * whole["rows"][page]
        for query, ms in costs.items():
            found.append(
                Goal(f"{page}, {query}, ms of CPU", ms, _PAGE_MS if query == "default" else scanned_ms)
            )
        ratio = costs["default"] / tenth["pages"][page]["default"]
        found.append(Goal(f"{page}, default, large cluster to a tenth", ratio, _SAME))
    return tuple(found)
