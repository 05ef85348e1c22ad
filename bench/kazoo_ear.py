"""The baseline of latency: kazoo's own watch callbacks on every partition's state.

A watch fires once: each callback reads again, which sets the next. Told anything, it tells what it heard:
(path, mzxid of the read that set the watch, epoch second of the callback).
"""

from __future__ import annotations

import functools
import sys
import time

from kazoo.client import KazooClient
from kazoo.interfaces import IAsyncResult
from kazoo.protocol.states import WatchedEvent

from bench import side

_TOPICS = "/brokers/topics"


class Ear:
    """Watches znodes, and notes each callback."""

    def __init__(self, client: KazooClient) -> None:
        self._client = client
        self._mzxids: dict[str, int] = {}
        self.heard: list[tuple[str, int, float]] = []

    def watch(self, path: str) -> IAsyncResult:
        result = self._client.get_async(path, watch=self._fired)
        result.rawlink(functools.partial(self._read, path))
        return result

    def _read(self, path: str, result: IAsyncResult) -> None:
        self._mzxids[path] = result.get()[1].mzxid

    def _fired(self, event: WatchedEvent) -> None:
        at = time.time()
        self.heard.append((event.path, self._mzxids[event.path], at))
        self.watch(event.path)


def main(address: str) -> None:
    client = KazooClient(hosts=address, timeout=30.0)
    client.start(timeout=30)
    ear = Ear(client)
    waiting = []
    for topic in client.get_children(_TOPICS):
        root = f"{_TOPICS}/{topic}/partitions"
        waiting += [ear.watch(f"{root}/{number}/state") for number in client.get_children(root)]
    for result in waiting:
        result.get(timeout=30)
    side.say(open=True)
    side.hear()
    side.say(heard=ear.heard)
    client.stop()
    client.close()


if __name__ == "__main__":
    main(sys.argv[1])
