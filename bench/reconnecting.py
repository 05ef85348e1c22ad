"""zkdash's side of a reconnect: how long each load took, from its first report to the last.

Tells the first load, then, told anything, waits until a second one ended and tells that.
"""

from __future__ import annotations

import sys
import threading
import time

from bench import side, usage
from bench.watched import Watched
from zkdash.zk.connection.session import Phase

_LIMIT_S = 120.0


class Loads:
    """The seconds from LOADING to LIVE, each time that this happens."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._moved = threading.Condition()
        self._began: float | None = None
        self.seconds: list[float] = []
        watched.listen(self._look)

    def wait(self, count: int) -> float:
        """The seconds that load number `count` took."""
        with self._moved:
            if not self._moved.wait_for(lambda: len(self.seconds) >= count, _LIMIT_S):
                raise TimeoutError(f"load {count} has not ended: {self._watched.snapshot.session}")
        return self.seconds[count - 1]

    def _look(self) -> None:
        phase = self._watched.snapshot.session.phase
        with self._moved:
            if phase is Phase.LOADING and self._began is None:
                self._began = time.perf_counter()
            elif phase is Phase.LIVE and self._began is not None:
                self.seconds.append(time.perf_counter() - self._began)
                self._began = None
                self._moved.notify_all()


def main(address: str) -> None:
    watched = Watched(address)
    loads = Loads(watched)
    for count in (1, 2):
        cpu = usage.cpu_s()
        if count == 1:
            watched.start()
        side.say(seconds=loads.wait(count), cpu_s=usage.cpu_s() - cpu, peak_mib=usage.peak_mib())
        if side.hear() is None:
            break
    watched.stop()


if __name__ == "__main__":
    main(sys.argv[1])
