"""The simulated brokers' sockets, and what the dashboard's own sampler learns there."""

from __future__ import annotations

import json
import socket
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

import immutables
import pytest
from kazoo.exceptions import NoNodeError

from tests.conftest import Chroot
from tests.demo.runtime.stepped_clock import SteppedClock
from tests.waiting import wait_for
from zkdash.broker import offsets_at
from zkdash.broker.offsets_at import Absent, At
from zkdash.broker.pace import Pace
from zkdash.broker.sampler import Sampler
from zkdash.broker.samples import GroupCommits, LogEnds, Unknown
from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.kafka39 import consumer_progress
from zkdash.demo.kafka39.definitions import BrokerConfig, ClusterDefinition, NewTopic
from zkdash.demo.kafka39.simulation import Simulation
from zkdash.kafka.layouts import brokers
from zkdash.kafka.values import Broker

pytestmark = pytest.mark.zk

PACE = Pace(every_s=0.1, slow_s=1.0, limit_s=60.0, tick_s=0.01, announce_s=0.0)
SMALL = ClusterDefinition(
    brokers=tuple(BrokerConfig(n, f"kafka-{n}.test", 9092, f"rack-{n}") for n in (1, 2, 3)),
    topics=(
        NewTopic("__consumer_offsets", 5, 3, {"cleanup.policy": "compact"}),
        NewTopic("orders", 6, 3, per_s=600),
        NewTopic("clicks", 4, 2, per_s=400),
    ),
    groups=(
        GroupConfig("billing", (1, 1), ("orders",)),
        GroupConfig("indexer", (2,), ("clicks",), lags=True),
        GroupConfig("mirror", (1,), ("orders",), commits=False),
    ),
)
SLOW_CYCLE_S = int(consumer_progress.FALLS_BEHIND_S + consumer_progress.CATCHES_UP_S)


class Watched:
    """A listening simulation, and a sampler that is told what ZooKeeper holds of it."""

    def __init__(self, chroot: Chroot) -> None:
        self.clock = SteppedClock()
        self.client = chroot.client
        self.simulation = Simulation(chroot.address, seed=3, definition=SMALL, time=self.clock, listen=True)
        self.sampler = Sampler("demo", on_change=lambda _: None, pace=PACE)

    def registered(self) -> dict[int, Broker]:
        found = {}
        for name in self.client.get_children("/brokers/ids"):
            value, problems = brokers.parse_broker(int(name), self.client.get(f"/brokers/ids/{name}")[0])
            assert isinstance(value, Broker)
            assert not problems
            found[value.id] = value
        return found

    def leaders(self, topic: str) -> dict[int, int]:
        root = f"/brokers/topics/{topic}/partitions"
        return {
            int(n): json.loads(self.client.get(f"{root}/{n}/state")[0])["leader"]
            for n in self.client.get_children(root)
        }

    def tell(self) -> None:
        """Tell the sampler what ZooKeeper holds now."""
        topics = {topic.name: self.leaders(topic.name) for topic in SMALL.topics}
        self.sampler.update(immutables.Map(self.registered()), immutables.Map(topics).get)
        self.look()

    def look(self) -> None:
        groups = {group.name: group.topics for group in SMALL.groups}
        self.sampler.want(["orders", "clicks"], groups)
        self.sampler.want_listing()

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.simulation.loop.run(lambda: None)

    def offset(self, group: str, topic: str, partition: int) -> int | None:
        try:
            return int(self.client.get(f"/consumers/{group}/offsets/{topic}/{partition}")[0])
        except NoNodeError:
            return None

    def end(self, topic: str, partition: int) -> int:
        """The log's end as sampled now; the clock of the simulation stands still meanwhile."""
        true = self.simulation.logs.end(topic, partition)

        def sampled() -> LogEnds | None:
            self.look()
            found = self.sampler.samples.log(topic, partition)
            return found if isinstance(found, LogEnds) and found.end == true else None

        return wait_for(sampled, 60, lambda: self.sampler.samples.log(topic, partition)).end

    def lags(self, group: str, topic: str) -> dict[int, int]:
        """Lag by partition, of those with an offset."""
        offsets = {n: self.offset(group, topic, n) for n in self.leaders(topic)}
        return {n: self.end(topic, n) - offset for n, offset in offsets.items() if offset is not None}


@pytest.fixture
def watched(chroot: Chroot) -> Iterator[Watched]:
    made = Watched(chroot)
    made.simulation.start()
    made.sampler.start()
    made.tell()
    for _ in range(10):
        made.pass_time(1.0)
    yield made
    made.sampler.stop()
    made.simulation.stop()
    assert made.simulation.failures == []


def answers_at(endpoint: str) -> bool:
    at = urllib.parse.urlsplit(endpoint)
    assert at.hostname is not None
    try:
        socket.create_connection((at.hostname, at.port or 0), 10).close()
    except ConnectionRefusedError:
        return False
    return True


def test_each_broker_registers_the_port_on_which_it_answers(watched: Watched) -> None:
    registered = watched.registered()
    assert len({broker.port for broker in registered.values()}) == 3
    for broker in registered.values():
        assert broker.host == "127.0.0.1"
        assert broker.endpoints == (f"PLAINTEXT://127.0.0.1:{broker.port}",)
        assert answers_at(broker.endpoints[0])


def test_a_group_has_log_ends_and_a_small_lag_on_every_partition(watched: Watched) -> None:
    wait_for(lambda: len(watched.lags("billing", "orders")) == 6)
    for lag in watched.lags("billing", "orders").values():
        assert 0 < lag < 600 / 6 * 1.4 * 1.6 * (consumer_progress.LAG_S + 10)


def test_offsets_that_a_group_keeps_in_kafka_are_told_by_its_coordinator_alone(watched: Watched) -> None:
    def told() -> Mapping[tuple[str, int], Any] | None:
        watched.look()
        found = watched.sampler.samples.committed("mirror")
        return found.commits if isinstance(found, GroupCommits) and len(found.commits) == 6 else None

    commits = wait_for(told, 60, lambda: watched.sampler.samples.committed("mirror"))
    for (topic, partition), commit in commits.items():
        assert 0 < commit.offset < watched.end(topic, partition)
        assert watched.offset("mirror", topic, partition) is None

    def holding() -> list[object]:
        """What the brokers that hold any group hold; asked again, as a first answer may come too early."""
        watched.look()
        return [one.groups for one in watched.sampler.samples.listings.values() if one.groups]

    assert wait_for(holding, 60, lambda: watched.sampler.samples.listings) == [{"mirror"}]
    assert len(watched.sampler.samples.listings) == 3


def test_offsets_are_told_once_for_both_ends_and_for_a_moment(watched: Watched) -> None:
    asked = [("orders", n) for n in watched.leaders("orders")]

    def told(at: int) -> dict[tuple[str, int], object]:
        return dict(offsets_at.ask(watched.registered(), watched.leaders, asked, at))

    logs, now_ms = watched.simulation.logs, watched.clock.wall_ms()
    assert told(offsets_at.LATEST) == {one: At(logs.end(*one)) for one in asked}
    assert told(offsets_at.EARLIEST) == {one: At(logs.start(*one)) for one in asked}
    assert told(now_ms - 5_000) == {one: At(logs.end(*one, ago_s=5.0)) for one in asked}
    assert {type(one) for one in told(now_ms + 1).values()} == {Absent}


@pytest.mark.parametrize("way", ["killed", "crashed"])
def test_a_dead_broker_refuses_connections_until_it_is_back_and_its_partitions_move_on(
    watched: Watched, way: str
) -> None:
    led = watched.leaders("orders")
    dead = led[0]
    endpoint = watched.registered()[dead].endpoints[0]
    before = watched.end("orders", 0)
    if way == "killed":
        watched.simulation.kill_broker(dead)
        assert dead not in watched.registered()
    else:
        watched.simulation.crash_broker(dead, detected_after_s=6.0)
        assert dead in watched.registered()

        def refused() -> bool:
            watched.look()
            found = watched.sampler.samples.log("orders", 0)
            return isinstance(found, Unknown) and "connection refused" in found.reason

        wait_for(refused, 60, lambda: watched.sampler.samples.log("orders", 0))
        watched.pass_time(7.0)
    assert not answers_at(endpoint)

    def moved_on() -> bool:
        watched.pass_time(1.0)
        return watched.leaders("orders")[0] not in (dead, -1)

    wait_for(moved_on, 60, lambda: watched.simulation.failures)
    watched.tell()
    assert watched.end("orders", 0) > before
    watched.simulation.start_broker(dead)
    assert watched.registered()[dead].endpoints == (endpoint,)
    assert answers_at(endpoint)


def test_a_slow_groups_lag_grows_and_shrinks_while_others_keep_theirs(watched: Watched) -> None:
    slow, steady = [], []
    for _ in range(SLOW_CYCLE_S // 15):
        for _ in range(15):
            watched.pass_time(1.0)
        slow.append(sum(watched.lags("indexer", "clicks").values()))
        steady.append(sum(watched.lags("billing", "orders").values()))
    worst = slow.index(max(slow))
    assert 0 < worst < len(slow) - 1
    assert max(slow) > 4 * max(slow[0], slow[-1])
    assert 0 < min(steady) <= max(steady) < 5 * min(steady)


def test_nothing_listens_once_the_simulation_stopped(chroot: Chroot) -> None:
    made = Watched(chroot)
    made.simulation.stop()
    made.simulation.start()
    endpoints = [broker.endpoints[0] for broker in made.registered().values()]
    assert all(map(answers_at, endpoints))
    made.simulation.stop()
    assert not any(map(answers_at, endpoints))
    assert made.simulation.failures == []
