"""A real cluster of 3.9 migrates to KRaft and back, and the page tells every stage: run by `make eras` alone.

Its name keeps it out of other runs: it takes about a minute.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.cluster import SETTINGS, Lab
from tests.lab.kraft import CONTROLLER_ID, Controller
from tests.serving import Serve
from tests.waiting import wait_for
from zkdash.actions.queue import planning
from zkdash.cluster.plans.intents import CreateTopic, ElectPreferred, ReelectController
from zkdash.demo.zookeeper.server import Server
from zkdash.zk import config

LIMIT_S = 180.0
HOME = "/c/default/"


@pytest.fixture
def own_lab(lab: Lab, zookeeper: Server, tmp_path: Path) -> Iterator[Lab]:
    """Brokers that nobody else uses; those that all others share have ended."""
    lab.stop()
    own = Lab(lambda _: zookeeper.address, tmp_path, name="to-kraft", count=2)
    yield own
    own.stop()


@pytest.mark.kafka
@pytest.mark.zk
@pytest.mark.parametrize("release", ["3.9.1"], indirect=True)
def test_a_migration_is_told_at_every_stage_and_actions_are_off_while_kraft_owns_the_metadata(
    own_lab: Lab, release: str, served: Serve, tmp_path: Path
) -> None:
    one, two = own_lab.brokers(release)
    one.create_topic("orders", partitions=2, replicas=2)
    site = served(ZKDASH_ZOOKEEPER=one.zookeeper)
    servers, chroot = config.parse_address(one.zookeeper)
    cluster = config.ClusterConfig("to-kraft", servers, chroot)

    def page() -> Any:
        return json.loads(site.get(f"{HOME}kraft/", Accept="application/json").body)

    def at(stage: str) -> Any:
        wait_for(lambda: page()["stage"] == stage, LIMIT_S, page)
        return page()

    def modes() -> dict[int, str]:
        return {row["broker"]: row["mode"] for row in page()["brokers"]}

    def refusals() -> list[str]:
        intents = (ElectPreferred(), ReelectController(), CreateTopic("new"))
        return [" ".join(planning.plan(cluster, intent).refusals) for intent in intents]

    told = at("zookeeper")
    answers = {row["condition"]: row["answer"] for row in told["rows"]}
    assert answers["Every broker is registered"] == answers["No partition moves"] == "yes"
    with own_lab.client(release) as client:
        cluster_id = json.loads(client.get("/cluster/id")[0])["id"]
    assert cluster_id in next(row["why"] for row in told["rows"] if "own id" in row["condition"])

    controller = Controller(one, tmp_path / "controller")
    controller.format(cluster_id)
    controller.start()
    try:
        assert at("waiting")["owner"] is None
        assert not any("KRaft" in sentence for sentence in refusals())

        for broker in (one, two):
            broker.restart(SETTINGS | controller.migration)
        told = at("owned")
        assert told["owner"] == told["migration"]["kraft_controller_id"] == CONTROLLER_ID
        assert modes() == {1: "in ZooKeeper mode", 2: "in ZooKeeper mode"}
        assert all("A KRaft controller owns the metadata" in sentence for sentence in refusals())
        assert f"KRaft controller {CONTROLLER_ID} owns the metadata" in site.get(HOME).text
        one.create_topic("written-to-both", replicas=2)
        wait_for(lambda: site.get(f"{HOME}topics/written-to-both/").status == 200, LIMIT_S)

        two.stop()
        with controller.broker(two, tmp_path / "two"):
            wait_for(lambda: one.describe_topic("orders")[0].isr.count(2), LIMIT_S)
            assert modes() == {1: "in ZooKeeper mode", 2: "in KRaft mode, or down"}
            assert (
                at("owned")["migration"]["kraft_metadata_offset"] > told["migration"]["kraft_metadata_offset"]
            )
        two.start()
        wait_for(lambda: modes()[2] == "in ZooKeeper mode", LIMIT_S)
    finally:
        controller.stop()

    with own_lab.client(release) as client:  # back, as Kafka's own guide says
        client.delete("/controller")
        for broker in (one, two):
            broker.restart(SETTINGS)
        at("left_behind")
        assert all("delete /migration" in sentence for sentence in refusals())
        client.delete("/migration")
        at("zookeeper")
        assert not any("KRaft" in sentence for sentence in refusals())
