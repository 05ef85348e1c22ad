"""Faults that are injected into the demo's cluster: a quarter of an hour of it, stepped through."""

from __future__ import annotations

import itertools
import json

import pytest
from kazoo.client import KazooClient

from tests.conftest import Chroot
from tests.demo.kafka39.living import Cluster
from tests.demo.runtime.stepped_clock import SteppedClock
from tests.waiting import wait_for
from zkdash.demo import fault_injection
from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.kafka39.definitions import BrokerConfig, ClusterDefinition, NewTopic
from zkdash.demo.kafka39.fault_injection import FaultInjection39
from zkdash.demo.kafka39.simulation import Simulation
from zkdash.demo.zookeeper.server import Server

pytestmark = pytest.mark.zk

SMALL = ClusterDefinition(
    brokers=tuple(BrokerConfig(n, f"kafka-{n}.test", 9092, f"rack-{n % 2}") for n in (1, 2, 3, 4)),
    topics=(NewTopic("orders", 8, 3), NewTopic("clicks", 4, 2)),
    groups=(
        GroupConfig("billing", (1, 1), ("orders",), redeploys=True),
        GroupConfig("report", (1,), ("orders",), periodic=True),
    ),
)
MINUTES = 15


class Seen:
    """What was seen of a cluster, second by second."""

    def __init__(self) -> None:
        self.down: list[int] = []
        self.topics: list[int] = []
        self.members: list[int] = []
        self.periodic: list[bool] = []
        self.shrunk: list[int] = []
        self.changes: list[bool] = []


@pytest.fixture(scope="module")
def seen(zookeeper: Server) -> Seen:
    clock = SteppedClock()
    client = KazooClient(hosts=zookeeper.address)
    client.start()
    simulation = Simulation(f"{zookeeper.address}/faults", seed=5, definition=SMALL, time=clock)
    simulation.start()
    FaultInjection39(simulation).start()
    found, before = Seen(), None
    for _ in range(MINUTES * 60):
        clock.advance(1.0)
        simulation.loop.run(lambda: None)
        if not client.exists("/faults/controller"):
            wait_for(lambda: simulation.controller is not None, 60, lambda: simulation.failures)
        controller = simulation.controller
        if controller is None:  # the controller crashed, and ZooKeeper has not given its session up yet
            continue
        states = {key: versioned.state for key, versioned in controller.context.states.items()}
        found.down.append(sum(not b.is_running for b in simulation.brokers.values()))
        found.topics.append(len(controller.context.topics))
        members = simulation.groups.members
        found.members.append(sum(m.is_running for m in members.values() if m.config.group == "billing"))
        found.periodic.append(members["report-0"].is_running)
        found.shrunk.append(
            sum(len(s.isr) < len(controller.context.replicas(key)) for key, s in states.items())
        )
        found.changes.append(states != before)
        before = states
    failures = list(simulation.failures)
    simulation.stop()
    client.stop()
    client.close()
    assert failures == []
    return found


def test_brokers_die_and_return_mostly_one_at_a_time(seen: Seen) -> None:
    assert seen.down.count(1) > 60
    assert max(seen.down) <= 2
    assert seen.down.count(2) < seen.down.count(1)


def test_topics_are_made_and_deleted(seen: Seen) -> None:
    assert {2, 3} <= set(seen.topics)
    ends = sum(after < before for before, after in itertools.pairwise(seen.topics))
    assert ends >= 3


def test_a_redeployed_member_leaves_and_joins(seen: Seen) -> None:
    assert set(seen.members) == {1, 2}


def test_a_periodic_group_comes_for_a_minute_and_is_away_for_long(seen: Seen) -> None:
    assert 60 < seen.periodic.count(True) < seen.periodic.count(False) / 2


def test_an_outage_waits_for_the_moves_that_run(chroot: Chroot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_injection, "OUTAGE_WHILE_MOVING_CHANCE", 0.0)
    moved = Cluster(chroot, SMALL)
    moved.simulation.start()
    try:
        ids = moved.json("/brokers/topics/orders")["partitions"]["0"]
        gone = next(b for b in (1, 2, 3, 4) if b not in ids)
        moved.simulation.kill_broker(gone)
        entry = {"topic": "orders", "partition": 0, "replicas": [*ids[:-1], gone]}
        request = {"version": 1, "partitions": [entry]}
        moved.client.create("/admin/reassign_partitions", json.dumps(request).encode())
        moved.wait(lambda: moved.simulation.is_moving)
        FaultInjection39(moved.simulation).start()
        for _ in range(60):
            moved.clock.advance(1.0)
            moved.simulation.loop.run(lambda: None)
            assert sum(not each.is_running for each in moved.simulation.brokers.values()) == 1
        moved.simulation.start_broker(gone)
        moved.pass_time(30, lambda: not moved.simulation.is_moving)
        moved.pass_time(60, lambda: not all(each.is_running for each in moved.simulation.brokers.values()))
    finally:
        moved.simulation.stop()
    assert moved.simulation.failures == []


def test_followers_lag_without_an_outage_and_everything_is_in_sync_at_times(seen: Seen) -> None:
    calm = [shrunk for shrunk, down in zip(seen.shrunk, seen.down, strict=True) if not down]
    assert max(calm) > 0
    assert calm.count(0) > 60


def test_something_changes_often_and_long_stretches_are_calm(seen: Seen) -> None:
    changed = [second for second, change in enumerate(seen.changes) if change]
    gaps = [after - before for before, after in itertools.pairwise(changed)]
    assert len(changed) > MINUTES * 60 / 20
    assert max(gaps) >= 10
    assert max(gaps) <= 60
