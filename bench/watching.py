"""zkdash's side of a change's cost: a watcher alone, that tells the CPU it used between two moments.

Told `zxid`, it waits until its state has that transaction, tells what it used since it last told
something, and starts anew. Told nothing of a zxid, it tells at once.
"""

from __future__ import annotations

import sys
import threading
import time

import django

from bench import side, usage
from zkdash.live import board
from zkdash.live.snapshot import Touched
from zkdash.zk import config

_LOAD_LIMIT_S = 600
_LIMIT_S = 60


class Reached:
    """Wakes when the board's state has reached a zxid, and counts the revisions on the way."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._condition = threading.Condition()
        self.revisions = 0

    def notify(self, _name: str, _revision: int, _touched: Touched) -> None:
        with self._condition:
            self.revisions += 1
            self._condition.notify_all()

    def wait(self, zxid: int, limit_s: float) -> None:
        with self._condition:
            if not self._condition.wait_for(lambda: self._is_there(zxid), limit_s):
                raise TimeoutError(
                    f"zxid {zxid:#x} not reached after {limit_s} s: {board.current(self._name)}"
                )

    def _is_there(self, zxid: int) -> bool:
        found = board.current(self._name)
        return found is not None and found.state.loaded and found.state.zxid >= zxid


def main(address: str) -> None:
    django.setup()
    from zkdash.live.watcher import Watcher  # noqa: PLC0415 - after Django, as in a serving process

    (cluster,) = config.load({"ZKDASH_ZOOKEEPER": address})
    reached = Reached(cluster.name)
    watcher = Watcher(cluster, notify=reached.notify)
    watcher.start()
    reached.wait(0, _LOAD_LIMIT_S)
    side.say(loaded=True)
    while (told := side.hear()) is not None:
        cpu, started, revisions = usage.cpu_s(), time.perf_counter(), reached.revisions
        side.say(started=True)
        told = side.hear()
        if told is None:
            break
        reached.wait(told["zxid"], _LIMIT_S)
        side.say(
            cpu_s=usage.cpu_s() - cpu,
            seconds=time.perf_counter() - started,
            revisions=reached.revisions - revisions,
        )
    watcher.stop()


if __name__ == "__main__":
    main(sys.argv[1])
