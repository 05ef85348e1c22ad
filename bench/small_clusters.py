"""A real `manage.py serve` over many small clusters, each below a chroot of one ZooKeeper."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bench import served, tree, usage
from bench.sizes import Shape
from bench.tree import Node
from tests.processes import inherited
from tests.serving import Served
from zkdash.demo.zookeeper.server import Server

SMALL = Shape(10, 4, 3)
Environment = Mapping[str, str]


class Started(NamedTuple):
    """A process, and what passed and was used until it had answered with its first page."""

    process: Served
    seconds: float
    cpu_s: float


class Surroundings(NamedTuple):
    """What a process is told, and the ZooKeeper that it follows."""

    environ: Environment
    zookeeper: Server


@contextlib.contextmanager
def surroundings(clusters: int) -> Iterator[Surroundings]:
    """So many clusters, and an empty directory of the process's own."""
    with (
        tempfile.TemporaryDirectory(prefix="zkdash-bench-") as below,
        served.serving_nodes(_nodes(clusters), heap_mb=512) as server,
    ):
        directory = Path(below)
        configuration = directory / "zkdash.toml"
        configuration.write_text("".join(_table(server, number) for number in range(clusters)))
        environ = inherited() | {
            "ZKDASH_CONFIG": str(configuration),
            "ZKDASH_DATA": str(directory / "data"),
            "ZKDASH_ANONYMOUS_READ": "1",
        }
        yield Surroundings(environ, server)


@contextlib.contextmanager
def started(environ: Environment, *options: str) -> Iterator[Started]:
    """A process from its start to its first page, and further; ended at the end."""
    directory = Path(environ["ZKDASH_DATA"]).parent
    began = time.monotonic()
    process = Served(dict(environ), directory, options=options)
    try:
        process.wait_until_ready()
        process.json(f"/c/{_name(0)}/topics/")
        yield Started(process, time.monotonic() - began, usage.cpu_of_s(process.pid))
        process.stop()
    finally:
        process.kill()


def wait_until_loaded(process: Served, clusters: int) -> None:
    """Wait until every cluster shows."""
    for number in range(clusters):
        process.wait_until_loaded(_name(number))


def _nodes(clusters: int) -> Iterator[Node]:
    """Every tree below a chroot of its own."""
    yield "/", tree.znode(None, zxid=0)
    small = list(tree.tree(**SMALL._asdict()))
    for number in range(clusters):
        chroot = f"/{_name(number)}"
        yield chroot, tree.znode(None, zxid=1)
        for path, znode in small:
            yield chroot + path, znode


def _table(server: Server, number: int) -> str:
    name = _name(number)
    return f'[clusters.{name}]\nzookeeper = "{server.address}/{name}"\n'


def _name(number: int) -> str:
    return f"small-{number:03}"
