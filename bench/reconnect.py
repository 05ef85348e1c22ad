"""A server that is killed and comes back: how long until the mirror is whole and current again.

Counted from the moment when reading begins, on both sides: how long a server takes to come back is its
own affair, and so is the dashboard's patience before it asks again.
"""

from __future__ import annotations

from bench import progress, served
from bench.result import Goal, Number, Result
from bench.side import Figures, Side
from bench.sizes import Size

_LIMIT_S = 150.0


def run(size: Size) -> Result:
    """Load, kill the server, start it again, and load once more."""
    with (
        progress.step(f"reconnect: a server of {size.whole}, killed and started again"),
        served.server(size.whole, heap_mb=size.heap_mb) as server,
        Side("reconnecting", server.address) as watching,
    ):
        first = watching.heard(limit_s=_LIMIT_S)
        server.kill()
        watching.tell(again=True)
        server.start()
        again = watching.heard(limit_s=_LIMIT_S)
    return Result(
        "reconnect",
        size.name,
        {"first load": _figures(first), "after the reconnect": _figures(again)},
        (Goal("whole again, times the first load's time", again["seconds"] / first["seconds"], 1),),
    )


def _figures(told: Figures) -> dict[str, Number]:
    return {
        "whole, s": told["seconds"],
        "CPU, s": told["cpu_s"],
        "peak memory so far, MiB": told["peak_mib"],
    }
