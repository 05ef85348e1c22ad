"""From the start of a process to its first page, with an empty directory and with a database at hand."""

from __future__ import annotations

from bench import progress, small_clusters, usage
from bench.result import Goal, Kept, Result
from bench.sizes import Size

_STARTS = 3
_GOAL_S = 2.0
_GOAL_MIB = 130.0


def run(size: Size) -> Result:
    """Start one process after the other over one small cluster; the fastest counts."""
    with progress.step("start: one small cluster"), small_clusters.surroundings(1) as around:
        first = _figures(around.environ)
        again = min(
            (_figures(around.environ) for _ in range(_STARTS)), key=lambda each: each["first page, s"]
        )
    return Result(
        "start",
        size.name,
        {"database to be made": first, "database at hand": again},
        (
            Goal("start to the first page, s", again["first page, s"], _GOAL_S, is_of_core=True),
            Goal("memory after the first page, MiB", again["memory, MiB"], _GOAL_MIB, kept=Kept(210, 23)),
        ),
    )


def _figures(environ: small_clusters.Environment) -> dict[str, float]:
    with small_clusters.started(environ) as started:
        return {
            "first page, s": started.seconds,
            "CPU, s": started.cpu_s,
            "memory, MiB": usage.resident_mib(started.process.pid),
        }
