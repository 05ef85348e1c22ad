"""How fast this server's tree can be read at all: plain sockets and MultiRead, nothing kept.

Finds the tree itself, breadth first: getData of every znode, getChildren of those that have some.
"""

from __future__ import annotations

import struct
import sys
import time
from collections import deque

from bench import side, usage, wire

OPERATIONS = 1_000  # in one MultiRead
IN_FLIGHT = 4

_INT = struct.Struct("!i")
_HEADER = 9  # type, done, error: before every single answer
_CHILDREN_FROM_END = 12  # numChildren and pzxid end a Stat


class Reader:
    """One walk through the whole tree; `znodes` and `data_bytes` count what was seen."""

    def __init__(self, connection: wire.Connection) -> None:
        self._connection = connection
        self._unread: deque[bytes] = deque([b"/"])
        self._unlisted: deque[bytes] = deque()
        self._asked: deque[tuple[int, list[bytes]]] = deque()
        self.znodes = 0
        self.data_bytes = 0

    def run(self) -> None:
        while True:
            while len(self._asked) < IN_FLIGHT and (self._unread or self._unlisted):
                self._ask()
            if not self._asked:
                return
            operation, paths = self._asked.popleft()
            _, answer = self._connection.answer()
            if operation == wire.GET_DATA:
                self._take_data(paths, answer)
            else:
                self._take_children(paths, answer)

    def _ask(self) -> None:
        """Post one MultiRead, preferring whichever fills it better."""
        lists = len(self._unlisted) > len(self._unread)
        waiting = self._unlisted if lists else self._unread
        operation = wire.GET_CHILDREN if lists else wire.GET_DATA
        paths = [waiting.popleft() for _ in range(min(OPERATIONS, len(waiting)))]
        self._connection.post(wire.MULTI_READ, wire.multi_read(operation, paths))
        self._asked.append((operation, paths))

    def _take_data(self, paths: list[bytes], answer: bytes) -> None:
        at = 0
        number = _INT.unpack_from
        for path in paths:
            if wire.is_error(answer, at):
                at += _HEADER + 4
                continue
            (length,) = number(answer, at + _HEADER)
            at += _HEADER + 4 + wire.STAT_SIZE
            if length > 0:
                at += length
                self.data_bytes += length
            self.znodes += 1
            if number(answer, at - _CHILDREN_FROM_END)[0]:
                self._unlisted.append(path)

    def _take_children(self, paths: list[bytes], answer: bytes) -> None:
        at = 0
        number = _INT.unpack_from
        for path in paths:
            if wire.is_error(answer, at):
                at += _HEADER + 4
                continue
            (count,) = number(answer, at + _HEADER)
            at += _HEADER + 4
            prefix = path if path == b"/" else path + b"/"
            for _ in range(count):
                (length,) = number(answer, at)
                at += 4 + length
                self._unread.append(prefix + answer[at - length : at])


def main(address: str) -> None:
    host, _, port = address.rpartition(":")
    cpu, started = usage.cpu_s(), time.perf_counter()
    connection = wire.Connection(host, int(port))
    reader = Reader(connection)
    reader.run()
    seconds = time.perf_counter() - started
    side.say(
        znodes=reader.znodes,
        data_bytes=reader.data_bytes,
        seconds=seconds,
        cpu_s=usage.cpu_s() - cpu,
        peak_mib=usage.peak_mib(),
    )
    connection.close()


if __name__ == "__main__":
    main(sys.argv[1])
