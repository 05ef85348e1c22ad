"""zkdash's side of the first load: a watcher from nothing until the first whole page was rendered."""

from __future__ import annotations

import sys
import time

from django.test import Client

from bench import side, usage
from bench.watched import Watched

_LIMIT_S = 120


def main(address: str) -> None:
    watched = Watched(address)
    client = Client(SERVER_NAME="127.0.0.1")
    client.get("/healthz")  # a serving process has all its pages at hand before the first cluster is there
    held, cpu, started = usage.resident_bytes(), usage.cpu_s(), time.perf_counter()
    watched.start()
    snapshot = watched.wait(limit_s=_LIMIT_S)
    snapshot_s = time.perf_counter() - started
    page = client.get(f"/c/{watched.name}/topics/")
    seconds, cpu = time.perf_counter() - started, usage.cpu_s() - cpu
    if page.status_code != 200:
        raise RuntimeError(f"the Topics page answered {page.status_code}: {page.content[:500]!r}")
    side.say(
        snapshot_s=snapshot_s,
        seconds=seconds,
        cpu_s=cpu,
        peak_mib=usage.peak_mib(),
        held_bytes=usage.resident_bytes() - held,
        partitions=snapshot.state.counts.partitions,
        znodes=watched.snapshot.session.loaded,
    )
    watched.stop()


if __name__ == "__main__":
    main(sys.argv[1])
