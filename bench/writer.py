"""Writes like a busy Kafka at a fixed rate, from a process of its own: `python -m bench.writer`.

Told `what` ("states", "offsets"), `rate` a second and `seconds`, it answers how many znodes it set, how
long that took, and the zxid of the last set, as often as it is told.
"""

from __future__ import annotations

import random
import re
import sys
import time
from typing import NamedTuple

from bench import side, wire

_TICK_S = 0.01


class Written(NamedTuple):
    count: int
    seconds: float
    zxid: int


def main(address: str) -> None:
    host, _, port = address.rpartition(":")
    connection = wire.Connection(host, int(port))
    sources = {"states": _states, "offsets": _offsets}
    while (told := side.hear()) is not None:
        sets = sources[told["what"]](connection, int(told["rate"] * told["seconds"]))
        side.say(**write(connection, sets, told["rate"])._asdict())
    connection.close()


def write(connection: wire.Connection, sets: list[bytes], rate: float) -> Written:
    """Post the sets as they come due; what comes due together goes out together."""
    started = time.perf_counter()
    done, zxid = 0, 0
    while done < len(sets):
        due = min(len(sets), int((time.perf_counter() - started) * rate) + 1)
        connection.post(wire.SET_DATA, *sets[done:due])
        for _ in range(done, due):
            zxid, _ = connection.answer()
        done = due
        time.sleep(_TICK_S)
    return Written(done, time.perf_counter() - started, zxid)


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
