"""What very many groups cost, half of them dead: the first load, the pages, and a flood of commits.

The first load is compared with that of a tree of topics alone, znode by znode, both read in turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from bench import pages, progress, rounds, served, side, stretch
from bench.result import Goal, Number, Result
from bench.side import Figures
from bench.sizes import Shape, Size

COMMITS_A_SECOND = 2_500

_LIMIT_S = 300.0
_TURNS = 3
_DEARER = 1.5  # of a znode below /consumers to one below /brokers/topics
_SHARE = 0.5  # of a core, at the flood of commits


def run(size: Size) -> Result:
    """Measure each on a server and in a process of its own."""
    many = size.groups
    few = many.tenth()
    loads, plain_loads = _loads((many, size.whole._replace(groups=0)), size)
    dearer = rounds.ratio(
        *([each["cpu_s"] / each["znodes"] for each in told] for told in (loads, plain_loads))
    )
    whole, tenth = pages.measured((many, few), size, "groups")
    commits = stretch.run(size, many, row="groups", what="offsets", rate=COMMITS_A_SECOND)
    return Result(
        "groups",
        size.name,
        {
            f"{whole['groups']:,} groups": {**_loaded(loads), **pages.figures(whole), **whole["lags"]},
            f"{tenth['groups']:,} groups": {**pages.figures(tenth), **tenth["lags"]},
            "topics alone": _loaded(plain_loads),
            "commits": commits,
        },
        (
            Goal("first load, CPU a znode, to that of topics", dearer, _DEARER),
            Goal("commits, share of a core", commits["CPU, share of a core"], _SHARE, is_of_core=True),
            *pages.goals(whole, tenth),
        ),
    )


def _loads(shapes: Sequence[Shape], size: Size) -> list[list[Figures]]:
    """Of each shape its loads, the shapes in turns."""
    with (
        progress.step(f"groups: first loads of {', '.join(map(str, shapes))}"),
        served.servers(shapes, heap_mb=size.heap_mb) as servers,
    ):
        turns = [
            [side.measured("first_page", server.address, limit_s=_LIMIT_S) for server in servers]
            for _ in range(_TURNS)
        ]
    return [list(told) for told in zip(*turns, strict=True)]


def _loaded(loads: Sequence[Figures]) -> dict[str, Number]:
    told = min(loads, key=itemgetter("cpu_s"))
    return {
        "znodes": told["znodes"],
        "first page rendered, s": told["seconds"],
        "CPU, µs a znode": told["cpu_s"] / told["znodes"] * 1e6,
        "peak memory, MiB": told["peak_mib"],
    }
