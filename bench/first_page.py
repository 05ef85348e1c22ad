"""zkdash's side of the first load: a watcher from nothing until the first whole page was rendered."""

from __future__ import annotations

import sys
import threading
import time

import django
from django.test import Client

from bench import side, usage
from zkdash.live import board
from zkdash.live.snapshot import Touched
from zkdash.zk import config

_LIMIT_S = 600


def main(address: str) -> None:
    django.setup()
    from zkdash.live.watcher import Watcher  # noqa: PLC0415 - after Django, as in a serving process

    (cluster,) = config.load({"ZKDASH_ZOOKEEPER": address})
    whole = threading.Event()

    def notify(name: str, _revision: int, _touched: Touched) -> None:
        found = board.current(name)
        if found and found.state.loaded:
            whole.set()

    client = Client(SERVER_NAME="127.0.0.1")
    held, cpu, started = usage.resident_bytes(), usage.cpu_s(), time.perf_counter()
    watcher = Watcher(cluster, notify=notify)
    watcher.start()
    if not whole.wait(_LIMIT_S):
        raise TimeoutError(f"no whole snapshot after {_LIMIT_S} s: {board.current(cluster.name)}")
    snapshot_s, snapshot_cpu = time.perf_counter() - started, usage.cpu_s() - cpu
    page = client.get(f"/c/{cluster.name}/topics/")
    page_s, page_cpu = time.perf_counter() - started, usage.cpu_s() - cpu
    assert page.status_code == 200, page.content
    peak = usage.peak_mib()
    held = usage.resident_bytes() - held
    found = board.current(cluster.name)
    assert found
    side.say(
        snapshot_s=snapshot_s,
        snapshot_cpu_s=snapshot_cpu,
        seconds=page_s,
        cpu_s=page_cpu,
        peak_mib=peak,
        held_bytes=held,
        topics=len(found.state.topics),
        partitions=found.state.counts.partitions,
    )
    watcher.stop()


if __name__ == "__main__":
    main(sys.argv[1])
