"""Real brokers of three eras: they register, and their tools tell what the znodes hold."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab import cluster
from tests.lab.cluster import Lab
from tests.lab.kafka import Broker, NotRegisteredError
from tests.lab.listening import free_port
from tests.lab.releases import RELEASES
from tests.lab.topics import Described, RefusedError
from tests.waiting import wait_for
from zkdash.demo.zookeeper.server import Server

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

LIMIT_S = 120.0


def test_a_broker_registers_in_its_eras_version(lab: Lab, release: str) -> None:
    broker, *_ = lab.brokers(release)
    with lab.client(release) as client:
        data, stat = client.get(f"/brokers/ids/{broker.id}")
    registered = json.loads(data)
    assert registered["version"] == RELEASES[release].registration
    assert (registered["host"], registered["port"]) == ("127.0.0.1", broker.port)
    assert stat.ephemeralOwner


def test_what_the_topic_tool_describes_is_what_the_znodes_hold(lab: Lab, release: str) -> None:
    brokers = lab.brokers(release)
    brokers[0].create_topic("described", partitions=3, replicas=2)
    with lab.client(release) as client:

        def held() -> dict[int, Described]:
            assigned = json.loads(client.get("/brokers/topics/described")[0])["partitions"]
            path = "/brokers/topics/described/partitions"
            if not all(client.exists(f"{path}/{number}/state") for number in assigned):
                return {}
            states = {int(n): json.loads(client.get(f"{path}/{n}/state")[0]) for n in assigned}
            return {
                n: Described(state["leader"], tuple(assigned[str(n)]), tuple(state["isr"]))
                for n, state in states.items()
            }

        def agreed() -> dict[int, Described]:
            there = held()
            return there if there and brokers[1].describe_topic("described") == there else {}

        try:
            told = wait_for(agreed, LIMIT_S, held)
            assert {leader for leader, _, _ in told.values()} <= {broker.id for broker in brokers}
        finally:
            brokers[0].delete_topic("described")
            wait_for(lambda: not client.exists("/brokers/topics/described"), LIMIT_S)


@pytest.mark.parametrize("release", ["3.9.1"], indirect=True, scope="session")
def test_a_broker_is_back_when_the_controller_knows_it_and_not_when_it_is_registered(
    lab: Lab, release: str
) -> None:
    brokers = lab.brokers(release)
    with lab.client(release) as client:
        controller = brokers[json.loads(client.get("/controller")[0])["brokerid"] - 1]
        back = next(broker for broker in brokers if broker is not controller)
        with lab.without(back):
            controller.pause()
            back.start()
            assert client.exists(f"/brokers/ids/{back.id}")
            assert not cluster.is_settled(client, brokers)
        assert cluster.is_settled(client, brokers)


@pytest.mark.parametrize("release", ["3.9.1"], indirect=True, scope="session")
def test_the_tools_refusal_is_what_it_printed(lab: Lab, release: str) -> None:
    broker, *others = lab.brokers(release)
    with pytest.raises(RefusedError, match=r"(?i)replication factor"):
        broker.create_topic("too-wide", replicas=len(others) + 2)


def test_a_broker_that_cannot_start_shows_the_end_of_its_log(zookeeper: Server, tmp_path: Path) -> None:
    broken = Broker(
        "3.9.1",
        f"{zookeeper.address}/broken",
        id=1,
        data_dir=tmp_path,
        properties={"log.retention.ms": "soon"},
    )
    with pytest.raises(NotRegisteredError, match=r"(?s)broker 1 at .*ended at once.*soon"):
        broken.start()
    assert not broken.alive


def test_a_broker_dies_with_the_process_that_started_it_and_comes_back_once_its_session_is_over(
    zookeeper: Server, tmp_path: Path
) -> None:
    port = free_port()
    own = Broker(
        "3.9.1",
        f"{zookeeper.address}/orphan",
        id=1,
        port=port,
        data_dir=tmp_path,
        properties={"zookeeper.session.timeout.ms": "3000"},
    )
    program = (
        "import pathlib; from tests.lab.kafka import Broker; "
        f"broker = Broker('3.9.1', {own.zookeeper!r}, id=1, port={port}, "
        f"data_dir=pathlib.Path({str(tmp_path)!r}), properties={{'zookeeper.session.timeout.ms': '3000'}}); "
        "broker.start(); print(broker.pid, flush=True); input()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin
    assert parent.stdout
    with parent, parent.stdin, parent.stdout:
        pid = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
        wait_for(lambda: not Path(f"/proc/{pid}").exists(), LIMIT_S)
    with own:
        assert own.alive
        assert own.pid != pid
