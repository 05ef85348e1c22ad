"""A stretch of time in which a writer changes a served tree and a watching process pays for it."""

from __future__ import annotations

import time

from bench import progress, served
from bench.result import Number
from bench.side import Figures, Side
from bench.sizes import Shape, Size

_LOAD_LIMIT_S = 360.0
_LIMIT_S = 150.0


def run(size: Size, shape: Shape, *, row: str, what: str, rate: int) -> dict[str, Number]:
    """As `on`, of a server of its own that serves a tree of this shape."""
    with (
        progress.step(f"{row}: {rate} {what} a second on {shape}"),
        served.server(shape, heap_mb=size.heap_mb) as server,
    ):
        return on(server.address, size.seconds, what=what, rate=rate, idle_s=size.seconds)


def on(address: str, seconds: float, *, what: str, rate: int, idle_s: float = 0.0) -> dict[str, Number]:
    """Let a writer change things for a while, and ask the watching side what that cost it.

    Everything that the watching process does in the stretch is counted, its ticks and proofs too. What it
    does with nothing to see for `idle_s` is shown beside, and what it did after the load before that: groups
    are compared with their plans some a second.
    """
    with Side("watching", address) as watching:
        plans = watching.heard(limit_s=_LOAD_LIMIT_S)
        idle = _idle(watching, idle_s) if idle_s else {}
        with Side("writer", address) as writer:  # whose session does not outlast a long load
            _begin(watching)
            writer.tell(what=what, rate=rate, seconds=seconds)
            written = writer.heard(limit_s=_LIMIT_S)
        ended = time.monotonic()
        used = _end(watching, written["zxid"])
        behind_s = time.monotonic() - ended
        return {
            "changes": written["count"],
            "changes/s written": written["count"] / written["seconds"],
            "all seen after the last, s": behind_s,
            "revisions/s": used["revisions"] / used["seconds"],
            "CPU, µs a change": used["cpu_s"] / written["count"] * 1e6,
            "CPU, share of a core": used["cpu_s"] / used["seconds"],
            **idle,
            "CPU of groups' plans after the load, s": plans["plans_cpu_s"],
        }


def _idle(watching: Side, seconds: float) -> dict[str, Number]:
    _begin(watching)
    time.sleep(seconds)
    used = _end(watching, 0)
    return {"CPU idle, share of a core": used["cpu_s"] / used["seconds"]}


def _begin(watching: Side) -> None:
    watching.tell(begin=True)
    watching.heard(limit_s=_LIMIT_S)


def _end(watching: Side, zxid: int) -> Figures:
    """What was used since `_begin` until the watcher's state held this transaction."""
    watching.tell(zxid=zxid)
    return watching.heard(limit_s=_LIMIT_S)
