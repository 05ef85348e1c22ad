"""A real server's transaction logs: states of partitions that change all the time, and offsets that groups
commit. What takes a minute to write is written once a run, whatever rows read it."""

from __future__ import annotations

import functools
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import churn, progress, tree, wire
from zkdash.demo.zookeeper.server import Server

_TOPICS, _PARTITIONS, _GROUPS = 50, 20, 20
_LOGS = 18
_WINDOW = 1_000


def logs(count: int) -> Path:
    """The directory of a server that was told so many transactions. It is read only."""
    return Path(_written(count).name)


def copy(count: int, directory: Path) -> None:
    """The same, to be added to."""
    shutil.copytree(logs(count), directory)


def add(directory: Path, count: int, more: int) -> None:
    """Have a server on a copy of `count` transactions write the next ones."""
    _write(directory, itertools.islice(_requests(), count, count + more), _each(count))


@functools.cache
def _written(count: int) -> tempfile.TemporaryDirectory[str]:
    """Removed when the process ends."""
    directory = tempfile.TemporaryDirectory(prefix="zkdash-bench-")
    with progress.step(f"writing {count} transactions"):
        _write(Path(directory.name), itertools.islice(_requests(), count), _each(count))
    return directory


def _each(count: int) -> int:
    """How many transactions a log has."""
    return max(count // _LOGS, 1_000)


def _write(directory: Path, requests: Iterator[tuple[int, bytes]], each: int) -> None:
    """Post all of them (type, body) as fast as the server answers."""
    config = {"snapCount": str(each), "preAllocSize": "4096"}
    with Server(directory, heap_mb=256, config=config) as server:
        connection = wire.Connection("127.0.0.1", server.port)
        while some := list(itertools.islice(requests, _WINDOW)):
            connection.post_all(some)
            for _ in some:
                connection.answer()
        connection.close()


def _requests() -> Iterator[tuple[int, bytes]]:
    """What makes a tree, and then without end another state of a partition, and another offset of a group."""

    def made(path: str, data: bytes = b"") -> tuple[int, bytes]:
        return wire.CREATE, churn.create(path.encode(), data)

    states, offsets = [], []
    for path in ("/brokers", "/brokers/topics", "/consumers"):
        yield made(path)
    for topic in range(_TOPICS):
        root = f"/brokers/topics/{tree.topic_name(topic)}"
        replicas = ",".join(f'"{number}":[1,2,3]' for number in range(_PARTITIONS))
        yield made(root, f'{{"version":1,"partitions":{{{replicas}}}}}'.encode())
        yield made(f"{root}/partitions")
        for partition in range(_PARTITIONS):
            yield made(f"{root}/partitions/{partition}")
            states.append(f"{root}/partitions/{partition}/state")
            yield made(states[-1], tree.state(1, [1, 2, 3]))
    for group in range(_GROUPS):
        read = tree.topic_name(group)
        for path in ("", "/offsets", f"/offsets/{read}"):
            yield made(f"/consumers/group-{group}{path}")
        for partition in range(_PARTITIONS):
            offsets.append(f"/consumers/group-{group}/offsets/{read}/{partition}")
            yield made(offsets[-1], b"0")
    for epoch in itertools.count(1):
        data = tree.state(epoch % 3 + 1, [1, 2, 3][: epoch % 3 + 1], leader_epoch=epoch)
        for state, offset in zip(states, itertools.cycle(offsets), strict=False):
            yield wire.SET_DATA, wire.set_data(state.encode(), data)
            yield wire.SET_DATA, wire.set_data(offset.encode(), b"%d" % epoch)
