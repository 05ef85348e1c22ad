"""How fast a tree can be read from a server before 3.6: plain sockets, a request a znode, nothing kept.

Finds the tree itself, as `raw_reader` does, with many requests sent at once; no watch is left.
"""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Iterator

from bench import side, usage, wire

AT_ONCE = 1_000
IN_FLIGHT = 4

_INT = struct.Struct("!i")
_CHILDREN_FROM_END = 12  # numChildren and pzxid end a Stat


def _answers(
    connection: wire.Connection, operation: int, paths: list[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    answers = connection.pipelined(operation, paths, at_once=AT_ONCE, in_flight=IN_FLIGHT)
    return zip(paths, answers, strict=True)


def main(address: str) -> None:
    host, _, port = address.rpartition(":")
    cpu, started = usage.cpu_s(), time.perf_counter()
    connection = wire.Connection(host, int(port))
    znodes = data_bytes = 0
    level = [b"/"]
    while level:
        parents = []
        for path, answer in _answers(connection, wire.GET_DATA, level):
            znodes += 1
            data_bytes += max(0, _INT.unpack_from(answer)[0])
            if _INT.unpack_from(answer, len(answer) - _CHILDREN_FROM_END)[0]:
                parents.append(path)
        level = []
        for path, answer in _answers(connection, wire.GET_CHILDREN, parents):
            prefix = path.rstrip(b"/") + b"/"
            level += [prefix + name for name in wire.names(answer)]
    seconds = time.perf_counter() - started
    side.say(
        znodes=znodes,
        data_bytes=data_bytes,
        seconds=seconds,
        cpu_s=usage.cpu_s() - cpu,
        peak_mib=usage.peak_mib(),
    )
    connection.close()


if __name__ == "__main__":
    main(sys.argv[1])
