"""Brings the tables up by one warm session each time it is told to; tells seconds and CPU time of each.

The first figures are those of the session's start. A run is `all` but for what is deleted.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from bench import side, usage
from zkdash.history.store import directories
from zkdash.pipeline import jobs, news
from zkdash.pipeline.warm import Warm
from zkdash.zk.config import ClusterConfig


def main(logs: str, scratch: str) -> None:
    cluster = ClusterConfig("bench", (("127.0.0.1", 2181),), transaction_logs=(logs,), snapshots=(logs,))
    root = Path(scratch, "history")
    seen: news.Seen | None = None
    with Warm(Path(scratch), "local[2]") as warm:
        began = time.perf_counter(), usage.cpu_of_all_s(os.getpid())
        with warm.session(_untold):
            _say(began)
        while side.hear() is not None:
            _settled(cluster)
            began = time.perf_counter(), usage.cpu_of_all_s(os.getpid())
            seen = _brought_up(warm, cluster, root, seen)
            _say(began)


def _settled(cluster: ClusterConfig) -> None:
    """Wait until files tell by their times whether they are written again: it is no part of a run."""
    while not news.files(cluster):
        time.sleep(0.1)


def _brought_up(warm: Warm, cluster: ClusterConfig, root: Path, seen: news.Seen | None) -> news.Seen:
    directory = directories.directory(root, cluster.name)
    if seen is not None and not news.is_new(seen, cluster, directory):
        return seen
    files = news.files(cluster)
    with warm.session(_untold) as spark:
        jobs.load(spark, cluster, root, _untold)
        read = news.read(directory)
        jobs.derive(spark, cluster, root, _untold)
    return news.Seen(files, read, news.made(directory))


def _say(began: tuple[float, float]) -> None:
    used = usage.cpu_of_all_s(os.getpid()) - began[1]
    side.say(**{"s": time.perf_counter() - began[0], "CPU, s": used})


def _untold(_what: str, _done: float) -> None:
    pass


if __name__ == "__main__":
    main(*sys.argv[1:])
