"""A real server's transaction logs, of requests that are posted to it as fast as it answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from bench import wire
from zkdash.demo.zookeeper.server import Server

_WINDOW = 1_000


def write(directory: Path, requests: Iterator[tuple[int, bytes]], *, each: int) -> None:
    """Have a server in a directory write all of them (type, body), a new log after `each` of them."""
    config = {"snapCount": str(each), "preAllocSize": "4096"}
    with Server(directory, heap_mb=256, config=config) as server:
        connection = wire.Connection("127.0.0.1", server.port)
        while some := list(itertools.islice(requests, _WINDOW)):
            connection.post_all(some)
            for _ in some:
                connection.answer()
        connection.close()
