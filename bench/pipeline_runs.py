"""Brings tables up by one warm session each time it is told to; tells seconds and CPU time of each.

The first figures are those of the session's start. A run is `all` but for what is deleted. The tables lie at
the given place; the logs are those that are in the directory by then.
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


def main(logs: str, scratch: str, tables: str) -> None:
    root, name = Path(tables).parent, Path(tables).name
    cluster = ClusterConfig(name, (("127.0.0.1", 2181),), transaction_logs=(logs,), snapshots=(logs,))
    seen: news.Seen | None = None
    with Warm(Path(scratch), "local[2]") as warm:
        began = _now()
        with warm.session(_untold):
            side.say(**_since(began))
        while side.hear() is not None:
            _settled(cluster)
            began = _now()
            seen, derivation = _brought_up(warm, cluster, root, seen)
            side.say(**_since(began), **derivation)


def _settled(cluster: ClusterConfig) -> None:
    """Wait until files tell by their times whether they are written again: it is no part of a run."""
    while not news.files(cluster):
        time.sleep(0.1)


def _brought_up(
    warm: Warm, cluster: ClusterConfig, root: Path, seen: news.Seen | None
) -> tuple[news.Seen, dict[str, float]]:
    """What was read, and what of the run was derivation; nothing of it where nothing was new."""
    directory = directories.directory(root, cluster.name)
    if seen is not None and not news.is_new(seen, cluster, directory):
        return seen, {}
    files = news.files(cluster)
    with warm.session(_untold) as spark:
        jobs.load(spark, cluster, root, _untold)
        read = news.read(directory)
        began = _now()
        derived = jobs.derive(spark, cluster, root, _untold)
        derivation = {f"derivation, {unit}": took for unit, took in _since(began).items()}
        derivation["rows derived"] = derived.rows
    return news.Seen(files, read, news.made(directory)), derivation


def _now() -> tuple[float, float]:
    return time.perf_counter(), usage.cpu_of_all_s(os.getpid())


def _since(began: tuple[float, float]) -> dict[str, float]:
    """Seconds of wall and of CPU, by the names that figures have."""
    wall, cpu = _now()
    return {"s": wall - began[0], "CPU, s": cpu - began[1]}


def _untold(_what: str, _done: float) -> None:
    pass


if __name__ == "__main__":
    main(*sys.argv[1:])
