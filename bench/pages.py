"""What a page of 50 rows costs from memory, every one of them, in a large cluster and in a tenth of it."""

from __future__ import annotations

from collections.abc import Sequence

from bench import progress, rounds, served
from bench.result import Goal, Number, Result
from bench.side import Figures, Side
from bench.sizes import Shape, Size

_LIMIT_S = 300.0
_ROUNDS = 15
_PAGE_MS = 6.0
_ROW_MS = 0.0006  # of each, where a filter or a sort looks at all
_SAME = 1.1  # of the larger cluster's cost to the smaller's


def run(size: Size) -> Result:
    """Measure both, each on a server of its own, by one process in turns."""
    whole, tenth = measured((size.whole, size.whole.tenth()), size, "pages")
    return Result(
        "pages",
        size.name,
        {
            f"{whole['topics']:,} topics": figures(whole),
            f"{tenth['topics']:,} topics": figures(tenth),
        },
        goals(whole, tenth),
    )


def measured(shapes: Sequence[Shape], size: Size, row: str) -> list[Figures]:
    """As `paged`, over trees of these shapes."""
    with (
        progress.step(f"{row}: pages of {', '.join(map(str, shapes))}"),
        served.servers(shapes, heap_mb=size.heap_mb) as servers,
    ):
        return paged([server.address for server in servers])


def paged(addresses: Sequence[str], *names: str) -> list[Figures]:
    """The milliseconds of CPU of each page and query of the trees of these servers: the least, as `pages`,
    and each of the rounds, as `rounds`. Of all pages, or of those of these names.

    Each round asks for a page of one tree after the other, so that what slows the machine for a while slows
    them alike.
    """
    with Side("paging", *addresses) as side:
        trees: list[Figures] = side.heard(limit_s=_LIMIT_S)["trees"]
        told: list[list[Figures]] = []
        for _ in range(_ROUNDS):
            side.tell(pages=names)
            told.append(side.heard(limit_s=_LIMIT_S)["pages"])
    return [
        {**tree, "pages": _least(costs), "rounds": costs}
        for tree, costs in zip(trees, zip(*told, strict=True), strict=True)
    ]


def _least(told: Sequence[Figures]) -> Figures:
    return {
        page: {name: min(each[page][name] for each in told) for name in costs}
        for page, costs in told[0].items()
    }


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
            limit_ms = _PAGE_MS if query == "default" else scanned_ms
            found.append(Goal(f"{page}, {query}, ms of CPU", ms, limit_ms, is_of_core=True))
        found.append(Goal(f"{page}, default, large cluster to a tenth", ratio(page, whole, tenth), _SAME))
    return tuple(found)


def ratio(page: str, of: Figures, to: Figures) -> float:
    """How many times the second's page, by default, the first's is: of two that were `paged` together."""
    return rounds.ratio(*([each[page]["default"] for each in told["rounds"]] for told in (of, to)))
