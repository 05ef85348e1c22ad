from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from pyspark.sql import SparkSession

from tests import recorded
from tests.formats.driven import connected
from tests.pipeline import writes
from tests.pipeline.transforms import living
from tests.pipeline.transforms.living import Lived
from tests.pipeline.writes import CANARY, RECORDED, WORLD, Writer, Written, file_zxid
from tests.world import World
from zkdash.demo.zookeeper.server import Server
from zkdash.formats import snapshot_reader
from zkdash.history.places.location import Location
from zkdash.pipeline import jobs
from zkdash.pipeline.storage import reading, writing


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A server that began with a recorded tree, was written to in every way, with fuzzy snapshots."""
    directory = tmp_path_factory.mktemp("written")
    recorded.write_snapshot(directory, [RECORDED])
    moments = []
    with Server(directory, tick_time_ms=200, config={"snapCount": "300"}) as server:
        client = connected(server.address)
        for number in range(8):  # so that a snapshot takes long enough to be written into
            client.create(f"/large-{number}", bytes(500_000))
        client.create(WORLD)
        chrooted = connected(server.address + WORLD)
        world = World(chrooted, server.address + WORLD)
        _plant(chrooted)
        moments.append(writes.read(server))
        writer = Writer(server.address, f"{WORLD}/written", seed=7)
        for number in range(4):
            world.broker(number, controller=number == 0)
            world.topic(f"topic-{number}", {0: [number, 0], 1: [0, number]})
            writer.round(400)
            if number:
                world.kill_broker(number - 1)
            moments.append(writes.read(server))
        while not _fuzzy(directory):
            writer.round(400)
        moments.append(writes.read(server))
        writer.close()
        world.close()
        for each in (client, chrooted):
            each.stop()
            each.close()
        moments.append(writes.read(server))
        writes.last_zxid(server)
    return Written(directory, moments)


@pytest.fixture(scope="session")
def tables(spark: SparkSession, written: Written, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the whole server."""
    directory = tmp_path_factory.mktemp("tables")
    writing.logs(reading.txnlog(spark, str(written.files)), directory, "logs", 0)
    writing.logs(reading.snapshot(spark, str(written.files)), directory, "snapshots", 0)
    return directory


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    return living.live(tmp_path_factory.mktemp("lived"))


@pytest.fixture(scope="session")
def bring(spark: Any) -> Callable[[Path, Location], jobs.Outcome]:
    """Loads what a directory of files holds into the tables below a root, and derives."""

    def bring_up(files: Path, root: Location) -> jobs.Outcome:
        tell = lambda _what, _done: None  # noqa: E731
        jobs.load(spark, living.cluster(files), root, tell)
        return jobs.derive(spark, living.cluster(files), root, tell)

    return bring_up


@pytest.fixture(scope="session")
def whole(bring: Callable[[Path, Path], Any], lived: Lived, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of tables of the whole story, made at once."""
    root = tmp_path_factory.mktemp("whole")
    bring(lived.stages[-1], root)
    return root


def _fuzzy(directory: Path) -> bool:
    """Whether a snapshot holds transactions after the one that it is named by."""
    found = (
        (path, snapshot_reader.layout(path.read_bytes()))
        for path in (directory / "version-2").glob("snapshot.*")
    )
    return any(
        isinstance(layout, snapshot_reader.Layout) and (layout.last_zxid or 0) > file_zxid(path)
        for path, layout in found
    )


def _plant(client: KazooClient) -> None:
    """Secrets where Kafka keeps them, written in every way."""
    secret = f'{{"version":1,"config":{{"SCRAM-SHA-256":"{CANARY}","producer_byte_rate":"1024"}}}}'.encode()
    client.create("/config/users/alice", secret, makepath=True)
    client.set("/config/users/alice", secret)
    client.create("/config/brokers/1", secret, makepath=True)
    client.create("/delegation_token/tokens/one", f"token {CANARY}".encode(), makepath=True)
    together = client.transaction()
    together.create("/delegation_token/tokens/two", f"token {CANARY}".encode())
    together.set_data("/delegation_token/tokens/one", f"new {CANARY}".encode())
    assert not any(isinstance(result, Exception) for result in together.commit())
