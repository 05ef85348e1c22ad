"""zkdash's side of a change's cost: a watcher alone, that tells the CPU it used between two moments.

It says so when it has loaded and compared all groups with their plans. Told anything, it begins. Told a
`zxid` then, it waits until its state has that transaction and tells what that took.
"""

from __future__ import annotations

import sys
import time

from bench import side, usage
from bench.watched import Watched

_LOAD_LIMIT_S = 120
_PLANS_LIMIT_S = 180
_LIMIT_S = 60


def main(address: str) -> None:
    watched = Watched(address)
    watched.start()
    watched.wait(limit_s=_LOAD_LIMIT_S)
    loaded = usage.cpu_s()
    watched.settle(limit_s=_PLANS_LIMIT_S)
    side.say(plans_cpu_s=usage.cpu_s() - loaded)
    while side.hear() is not None:
        cpu, started, revisions = usage.cpu_s(), time.perf_counter(), watched.revisions
        side.say(begun=True)
        told = side.hear()
        if told is None:
            break
        watched.wait(zxid=told["zxid"], limit_s=_LIMIT_S)
        side.say(
            cpu_s=usage.cpu_s() - cpu,
            seconds=time.perf_counter() - started,
            revisions=watched.revisions - revisions,
        )
    watched.stop()


if __name__ == "__main__":
    main(sys.argv[1])
