"""Writes like a busy Kafka at a fixed rate, from a process of its own.

Told `what` ("states", "offsets", "churn"), `rate` a second and `seconds`, it answers how many writes that
were, how long they took, and the zxid of the last, as often as it is told; with `trace` also of every write
its path, zxid and time. Churn is told the tree's `shape` too, and goes on where it was.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from bench import churn, side, wire
from bench.sizes import Shape

_TICK_S = 0.01


class Written(NamedTuple):
    """`sent` holds for every write its zxid, and the epoch second when it was posted."""

    seconds: float
    sent: list[tuple[int, float]]


def main(address: str) -> None:
    host, _, port = address.rpartition(":")
    connection = wire.Connection(host, int(port))
    restless = None
    while (told := side.hear()) is not None:
        if told["what"] == "churn":
            restless = restless or churn.writes(Shape(*told["shape"]), seed=1)
            requests: Sequence[tuple[int, bytes]] = list(itertools.islice(restless, _count(told)))
        else:
            requests = _sets(connection, told)
        seconds, sent = write(connection, requests, told["rate"])
        trace = {"trace": _trace(requests, sent)} if told.get("trace") else {}
        side.say(count=len(sent), seconds=seconds, zxid=sent[-1][0], **trace)
    connection.close()


def write(connection: wire.Connection, requests: Sequence[tuple[int, bytes]], rate: float) -> Written:
    """Post the requests as they come due; what comes due together goes out together."""
    started = time.perf_counter()
    sent: list[tuple[int, float]] = []
    while len(sent) < len(requests):
        due = min(len(requests), int((time.perf_counter() - started) * rate) + 1)
        posted = time.time()
        connection.post_all(requests[len(sent) : due])
        sent += [(connection.answer()[0], posted) for _ in range(len(sent), due)]
        time.sleep(_TICK_S)
    return Written(time.perf_counter() - started, sent)


def _trace(
    requests: Sequence[tuple[int, bytes]], sent: Sequence[tuple[int, float]]
) -> list[tuple[str, int, float]]:
    """(path, zxid, when it was posted) of every write."""
    return [(wire.path_of(body).decode(), *times) for (_, body), times in zip(requests, sent, strict=True)]


def _count(told: side.Figures) -> int:
    return int(told["rate"] * told["seconds"])


def _sets(connection: wire.Connection, told: side.Figures) -> list[tuple[int, bytes]]:
    sets = _states if told["what"] == "states" else _offsets
    return [(wire.SET_DATA, body) for body in sets(connection, _count(told))]


def _states(connection: wire.Connection, count: int) -> list[bytes]:
    """As many changes of partition states, each the next leader epoch of one chosen by chance."""
    paths = _below(connection, b"/brokers/topics", b"partitions")
    chosen = random.choices(paths, k=count)  # noqa: S311 - nothing secret
    chosen = [path + b"/state" for path in chosen]
    return [
        wire.set_data(path, _next_epoch(data, number))
        for number, (path, data) in enumerate(zip(chosen, connection.data(chosen), strict=True), 1)
    ]


def _next_epoch(state: bytes, by: int) -> bytes:
    return re.sub(rb'("leader_epoch": *)(\d+)', lambda m: m[1] + str(int(m[2]) + by).encode(), state)


def _offsets(connection: wire.Connection, count: int) -> list[bytes]:
    """As many commits, each of one offset chosen by chance among those of all groups."""
    topics = _below(connection, b"/consumers", b"offsets")
    parts = zip(topics, connection.children(topics), strict=True)
    chosen = random.choices([b"%b/%b" % (topic, part) for topic, names in parts for part in names], k=count)  # noqa: S311
    return [
        wire.set_data(path, b"%d" % (int(data) + number))
        for number, (path, data) in enumerate(zip(chosen, connection.data(chosen), strict=True), 1)
    ]


def _below(connection: wire.Connection, root: bytes, directory: bytes) -> list[bytes]:
    """The children of `<root>/<child>/<directory>` of all children, as paths."""
    parents = [b"%b/%b/%b" % (root, name, directory) for name in connection.children([root])[0]]
    found = zip(parents, connection.children(parents), strict=True)
    return [b"%b/%b" % (parent, name) for parent, names in found for name in names]


if __name__ == "__main__":
    main(sys.argv[1])
