"""What very many groups cost, half of them dead: the first load, the pages, and a flood of commits.

The first load is compared with that of a tree of topics alone, znode by znode.
"""

from __future__ import annotations

from bench import pages, progress, served, side, stretch
from bench.result import Goal, Number, Result
from bench.side import Figures
from bench.sizes import Shape, Size

COMMITS_A_SECOND = 2_500

_LIMIT_S = 300.0
_DEARER = 1.5  # of a znode below /consumers to one below /brokers/topics
_SHARE = 0.5  # of a core, at the flood of commits


def run(size: Size) -> Result:
    """Measure each on a server and in a process of its own."""
    many = size.groups
    few = many.tenth()
    loads = {shape: _load(shape, size) for shape in (many, size.whole._replace(groups=0))}
    dear, plain = (told["cpu_s"] / told["znodes"] * 1e6 for told in loads.values())
    whole, tenth = pages.measured((many, few), size, "groups")
    commits = stretch.run(size, many, row="groups", what="offsets", rate=COMMITS_A_SECOND)
    return Result(
        "groups",
        size.name,
        {
            f"{whole['groups']:,} groups": {**_loaded(loads[many]), **pages.figures(whole), **whole["lags"]},
            f"{tenth['groups']:,} groups": {**pages.figures(tenth), **tenth["lags"]},
            "topics alone": _loaded(loads[size.whole._replace(groups=0)]),
            "commits": commits,
        },
        (
            Goal("first load, CPU a znode, to that of topics", dear / plain, _DEARER),
            Goal("commits, share of a core", commits["CPU, share of a core"], _SHARE, is_of_core=True),
            *pages.goals(whole, tenth),
        ),
    )


def _load(shape: Shape, size: Size) -> Figures:
    with (
        progress.step(f"groups: first load of {shape}"),
        served.server(shape, heap_mb=size.heap_mb) as server,
    ):
        return side.measured("first_page", server.address, limit_s=_LIMIT_S)


def _loaded(told: Figures) -> dict[str, Number]:
    return {
        "znodes": told["znodes"],
        "first page rendered, s": told["seconds"],
        "CPU, µs a znode": told["cpu_s"] / told["znodes"] * 1e6,
        "peak memory, MiB": told["peak_mib"],
    }
