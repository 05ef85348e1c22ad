"""A real broker of the oldest era on a real ZooKeeper of its time: 0.8.2.2 on 3.4.14, live on the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka_live import test_overview
from tests.lab import zookeeper
from tests.lab.cluster import Lab
from tests.serving import Serve
from tests.waiting import wait_for
from zkdash.demo.zookeeper import Server

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

RELEASE = "0.8.2.2"
LIVE_S = 5.0


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """Brokers on a ZooKeeper 3.4.14."""
    with Server(tmp_path / "zookeeper", tick_time_ms=200, classpath=zookeeper.classpath("3.4.14")) as server:
        lab = Lab(server.address, tmp_path / "kafka")
        yield lab
        lab.stop()


def test_a_topic_of_an_old_broker_on_an_old_zookeeper_shows_and_follows_what_happens(
    lab: Lab, served: Serve
) -> None:
    first, second = lab.brokers(RELEASE, 2)
    site = served(ZKDASH_ZOOKEEPER=lab.address(RELEASE))
    site.wait_until_loaded()
    wait_for(lambda: site.json(test_overview.HOME)["numbers"]["brokers"] == 2, LIVE_S)
    first.create_topic("old", partitions=4, replicas=2)
    with lab.client(RELEASE) as client:

        def agreed(alive: set[int]) -> bool:
            there = test_overview.held(client, "old")
            settled = there and all(set(told.isr) == alive for told, _ in there.values())
            return bool(settled) and test_overview.shown(site, "old") == there

        for alive in ({1, 2}, {1}, {1, 2}):
            if alive == {1}:
                second.kill()
            elif not second.alive:
                second.start()
            wait_for(lambda alive=alive: agreed(alive), test_overview.SESSION_LIMIT_S)
        told = {number: described for number, (described, _) in test_overview.shown(site, "old").items()}
        assert first.describe_topic("old") == told
        first.delete_topic("old")
        wait_for(lambda: not client.exists("/brokers/topics/old"), test_overview.SESSION_LIMIT_S)
    wait_for(lambda: not site.json(f"{test_overview.HOME}topics/")["rows"], LIVE_S)
