"""`?at=` of a real `serve`, told by ZooKeeper's own logs alone, and with what was recorded after these."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.test import Client
from kazoo.client import KazooClient

from tests import full
from tests.history.recorder.test_recorder import checkpoint, recorded
from tests.live.past import story
from tests.live.past.story import Dump
from tests.pipeline import writes
from tests.serving import starter
from tests.web.past.test_served_past import CLUSTER, Told, check_pages, serving
from tests.world import World
from zkdash.demo.zookeeper.server import Server
from zkdash.pipeline import jobs
from zkdash.zk.config import ClusterConfig

pytestmark = [pytest.mark.zk, pytest.mark.spark]

CHROOT: Final = "/shop"
# So many moments of the story are covered by the logs that are read meanwhile.
COVERED: Final = 5


@pytest.fixture(scope="module")
def told(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Told, Told]]:
    """A cluster told by logs alone, and told by logs up to the middle of its story, then as recorded."""
    below = tmp_path_factory.mktemp("logged")
    logs, both = below / "logs", below / "both"
    dumps: list[Dump] = []
    with Server(below / "zookeeper", tick_time_ms=200) as server:
        root = KazooClient(server.address)
        root.start()
        root.ensure_path(CHROOT)
        root.stop()
        client = KazooClient(server.address + CHROOT)
        client.start()
        world = World(client, server.address + CHROOT)
        world.broker(1, controller=True)
        world.broker(2)
        world.topic("orders", {0: [1, 2], 1: [2, 1]})
        directory = both / CLUSTER
        with recorded(directory, server.address + CHROOT):
            checkpoint(directory)
            for name in story.moments(client, world, directory):
                dumps.append(story.dump(name, client))
                story.until_recorded(directory, dumps[-1].zxid)
                if len(dumps) == COVERED:
                    writes.last_zxid(server)
                    load(spark, below / "zookeeper", both)
        writes.last_zxid(server)
        load(spark, below / "zookeeper", logs)
        with starter(below) as start:
            address = server.address + CHROOT
            alone = start(ZKDASH_ZOOKEEPER=address, ZKDASH_HISTORY=logs, options=["--no-record"])
            alone.wait_until_loaded()
            by_logs = Told(alone, dumps, logs, address)
            with serving(Told(alone, dumps, both, address), below / "serving") as mixed:
                mixed.wait_until_loaded()
                yield by_logs, Told(mixed, dumps, both, address)
        world.close()
        client.stop()


def load(spark: Any, files: Path, root: Path, chroot: str = CHROOT) -> None:
    config = ClusterConfig(CLUSTER, (("127.0.0.1", 2181),), chroot, transaction_logs=(str(files),))
    jobs.load(spark, config, root, lambda _what, _done: None)


def test_every_page_is_told_by_logs_alone_as_it_was_read_then(
    told: tuple[Told, Told], client: Client
) -> None:
    by_logs, _ = told
    for dump in full.pick(by_logs.dumps[2::5], by_logs.dumps):
        assert check_pages(by_logs, dump, client) == {"logs"}


def test_where_logs_end_the_recorder_goes_on(told: tuple[Told, Told], client: Client) -> None:
    _, both = told
    covered, later = both.dumps[:COVERED], both.dumps[COVERED:]
    for dump in full.pick(covered[-1:], covered):
        assert check_pages(both, dump, client) == {"logs"}
    for dump in full.pick(later[-1:], later):
        assert check_pages(both, dump, client) == {"recorder"}


def test_who_wrote_is_told_of_what_logs_hold(told: tuple[Told, Told]) -> None:
    by_logs, _ = told
    path = f"/c/{CLUSTER}/why/?topic=orders&partition=0"
    written = {row["written_by"] for row in by_logs.json(path, by_logs.named("elected anew").zxid)["rows"]}
    assert all(each is not None and "session 0x" in each for each in written)
