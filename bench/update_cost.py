"""What a change costs the watcher in a large cluster and in a small one."""

from __future__ import annotations

from bench import stretch
from bench.result import Goal, Kept, Result
from bench.sizes import Size

STATES_A_SECOND = 500


def run(size: Size) -> Result:
    """Measure both stretches, each on a server and in a process of its own."""
    many = stretch.run(size, size.whole, row="update_cost", what="states", rate=STATES_A_SECOND)
    few = stretch.run(size, size.few, row="update_cost", what="states", rate=STATES_A_SECOND)
    times = many["CPU, µs a change"] / few["CPU, µs a change"]
    return Result(
        "update_cost",
        size.name,
        {
            f"{size.whole.all_partitions:,} partitions": many,
            f"{size.few.all_partitions:,} partitions": few,
        },
        (Goal("CPU a change, many partitions to few", times, 1.1, kept=Kept(1.5, 22)),),
    )
