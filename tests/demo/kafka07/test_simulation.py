"""The simulated cluster of Kafka 0.7, on a real ZooKeeper, against the trees that real ones left."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from random import Random

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests import full, recorded
from tests.conftest import Chroot
from tests.demo.runtime.hearing import hear_all
from tests.demo.runtime.stepped_clock import SteppedClock
from tests.narrowing import known
from tests.waiting import wait_for
from zkdash.demo.consumers.configs import ConsumerConfig, GroupConfig
from zkdash.demo.consumers.member import Member
from zkdash.demo.kafka07.definitions import BrokerConfig07, ClusterDefinition07
from zkdash.demo.kafka07.fault_injection import FaultInjection07
from zkdash.demo.kafka07.simulation import Simulation07
from zkdash.demo.zookeeper.server import Server
from zkdash.kafka import paths, znode_kinds
from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.values import Layout, Pattern
from zkdash.kafka.znode_kinds import Kind

pytestmark = pytest.mark.zk

# What the real cluster of the recorded tree was made of, and its consumers in the order of their start.
TOPICS = {"orders": 2, "clicks": 2, "wide": 4}
REAL = ClusterDefinition07(tuple(BrokerConfig07(n, "127.0.0.1", 29100 + n, TOPICS) for n in (1, 2)), ())
CONSUMERS = {
    "static-1": ConsumerConfig(
        "g-static", {"orders": 2, "clicks": 1}, rule=Rule.RANGE_07, host="vm", consumer_id="c-fixed-1"
    ),
    "white": ConsumerConfig(
        "g-white", {"orders|clicks|w.*": 2}, pattern=Pattern.WHITE_LIST, rule=Rule.RANGE_07, host="vm"
    ),
    "black": ConsumerConfig(
        "g-black", {"wide": 1}, pattern=Pattern.BLACK_LIST, rule=Rule.RANGE_07, host="vm"
    ),
    "static-2": ConsumerConfig("g-static", {"orders": 1, "wide": 3}, rule=Rule.RANGE_07, host="vm"),
}

SMALL = ClusterDefinition07(
    tuple(BrokerConfig07(n, f"kafka{n}.test", 9092, {"orders": 3, "clicks": 1}) for n in (1, 2, 10)),
    (
        GroupConfig("loader", (2, 1), ("orders",), rule=Rule.RANGE_07, redeploys=True),
        GroupConfig("archive", (1,), white_list="ord.*|exp.*", rule=Rule.RANGE_07),
        GroupConfig("hanging", (1, 1), ("clicks",), rule=Rule.RANGE_07, hangs=True),
    ),
)

# Of the simulation, at the faults that it injects.
MINUTES = full.pick(6, 15)
_CHANGING = re.compile(r"\d{13}|-[0-9a-f]{8}(?=-\d+$|$)")


class Cluster:
    """A running simulation with its clock, and what ZooKeeper holds of it."""

    def __init__(self, chroot: Chroot, definition: ClusterDefinition07) -> None:
        self.clock = SteppedClock()
        self.client = chroot.client
        self.simulation = Simulation07(chroot.address, seed=7, definition=definition, time=self.clock)

    def tree(self, top: str = "") -> dict[str, tuple[bytes | None, bool]]:
        """Data of every znode below `top`, and whether it is ephemeral."""
        try:
            data, stat = self.client.get(top or "/")
            found = {top or "/": (data, stat.ephemeralOwner != 0)}
            for name in self.client.get_children(top or "/"):
                found |= self.tree(f"{top}/{name}")
        except NoNodeError:
            return {}
        return found

    def owners(self, group: str) -> dict[str, str]:
        """Owner by "topic/broker-part"."""
        root = f"/consumers/{group}/owners"
        found = self.tree(root)
        return {p.removeprefix(f"{root}/"): known(data).decode() for p, (data, kept) in found.items() if kept}

    def pass_time(self, seconds: int, until: Callable[[], bool]) -> None:
        hear_all(self.simulation)
        for _ in range(seconds):
            self.clock.advance(1.0)
            self.simulation.loop.run(lambda: None)
            if until():
                return
        wait_for(until, 60, lambda: (f"{seconds} s of the cluster's time", self.simulation.failures))


@pytest.fixture
def cluster(chroot: Chroot) -> Iterator[Cluster]:
    made = Cluster(chroot, SMALL)
    made.simulation.start()
    yield made
    made.simulation.stop()
    assert made.simulation.failures == []


def forms(tree: Mapping[str, tuple[bytes | None, bool]]) -> dict[str, tuple[str | None, bool]]:
    """A tree with what differs from run to run made alike: times, random parts of ids, how far was read."""
    return {
        _CHANGING.sub("~", path): (
            None
            if data is None
            else "<offset>"
            if paths.locate(path).kind is Kind.OFFSET
            else _CHANGING.sub("~", data.decode()),
            ephemeral,
        )
        for path, (data, ephemeral) in tree.items()
        if path != "/"
    }


def test_every_znode_is_byte_for_byte_what_a_real_cluster_of_0_7_2_wrote(chroot: Chroot) -> None:
    real = recorded.raw("0.7.2-consumers")
    theirs = {
        path: (None if z.get("text") is None else z["text"].encode(), z["stat"]["ephemeralOwner"] != 0)
        for path, z in real.items()
    }
    made = Cluster(chroot, REAL)
    made.simulation.start()
    members = [
        Member(
            config,
            chroot.address,
            loop=made.simulation.loop,
            time=made.clock,
            random=Random(name),  # noqa: S311
        )
        for name, config in CONSUMERS.items()
    ]
    try:
        for member in members:
            made.simulation.loop.run(member.join)
        made.pass_time(60, lambda: forms(made.tree()) == forms(theirs))
    finally:
        for member in members:
            made.simulation.loop.run(member.leave)
        made.simulation.stop()
    assert made.simulation.failures == []


def test_a_killed_brokers_registration_and_topics_go_and_come_back(cluster: Cluster) -> None:
    before = forms(cluster.tree("/brokers"))
    cluster.simulation.kill_broker(10)
    gone = {"/brokers/ids/10", "/brokers/topics/orders/10", "/brokers/topics/clicks/10"}
    assert set(before) - set(forms(cluster.tree("/brokers"))) == gone
    cluster.simulation.start_broker(10)
    assert forms(cluster.tree("/brokers")) == before


def test_consumers_share_what_is_left_of_a_topic_whose_broker_died_and_take_it_back(cluster: Cluster) -> None:
    def keys(group: str) -> set[str]:
        return set(cluster.owners(group))

    whole = {f"orders/{broker}-{part}" for broker in (1, 2, 10) for part in range(3)}
    cluster.pass_time(20, lambda: keys("loader") == whole)
    cluster.simulation.crash_broker(2, detected_after_s=6)
    cluster.pass_time(20, lambda: keys("loader") == {key for key in whole if "/2-" not in key})
    cluster.simulation.start_broker(2)
    cluster.pass_time(20, lambda: keys("loader") == whole)


def test_partitions_are_shared_in_the_order_of_their_text(cluster: Cluster) -> None:
    """Broker 10 comes before broker 2: thread 0 of the first member has all of brokers 1 and none of 2."""
    cluster.pass_time(20, lambda: len(cluster.owners("loader")) == 9)
    owners = cluster.owners("loader")
    by_thread = [sorted(keys) for _, keys in itertools.groupby(sorted(owners), key=owners.__getitem__)]
    assert by_thread == [[f"orders/{broker}-{part}" for part in range(3)] for broker in (1, 10, 2)]


def test_a_wildcard_takes_up_a_topic_that_a_broker_begins_to_serve_and_its_next_brokers(
    cluster: Cluster,
) -> None:
    cluster.pass_time(20, lambda: len(cluster.owners("archive")) == 9)
    cluster.simulation.serve("experiment", {2: 2})
    cluster.pass_time(20, lambda: {"experiment/2-0", "experiment/2-1"} <= set(cluster.owners("archive")))
    cluster.simulation.serve("experiment", {1: 1})
    cluster.pass_time(20, lambda: len(cluster.owners("archive")) == 12)


def test_offsets_are_bytes_that_only_grow_and_are_written_though_nothing_came(cluster: Cluster) -> None:
    def offsets() -> dict[str, int]:
        return {
            path: int(known(data))
            for path, (data, _) in cluster.tree("/consumers/archive/offsets").items()
            if paths.locate(path).kind is Kind.OFFSET
        }

    cluster.pass_time(30, lambda: len(offsets()) == 9)
    before = offsets()
    assert min(before.values()) >= 10**8
    path = min(before)
    version = cluster.client.exists(path).version
    cluster.pass_time(40, lambda: cluster.client.exists(path).version >= version + 5)
    assert all(offset >= before[path] for path, offset in offsets().items())
    assert sum(offsets().values()) > sum(before.values())


def test_everything_that_is_written_parses_without_a_problem(cluster: Cluster) -> None:
    cluster.pass_time(20, lambda: len(cluster.owners("loader")) == 9)
    read = {path: znode_kinds.parse(paths.locate(path), data) for path, (data, _) in cluster.tree().items()}
    assert {path: reasons for path, (_, reasons) in read.items() if reasons} == {}
    assert read["/brokers/ids/10"][0].layout is Layout.V07


def test_minutes_of_faults_bring_new_topics_and_harm_nothing(cluster: Cluster) -> None:
    FaultInjection07(cluster.simulation).start()
    down, members, topics = set(), set(), set()
    for _ in range(MINUTES * 60):
        cluster.clock.advance(1.0)
        cluster.simulation.loop.run(lambda: None)
        down.add(sum(not each.is_running for each in cluster.simulation.brokers.values()))
        members.add(len(cluster.client.get_children("/consumers/loader/ids")))
        topics.add(len(cluster.client.get_children("/brokers/topics")))
    assert {0, 1} <= down <= {0, 1, 2}
    assert members == {1, 2}
    assert len(topics) > 4


def test_a_clean_stop_leaves_no_ephemeral(chroot: Chroot) -> None:
    made = Cluster(chroot, SMALL)
    made.simulation.start()
    made.simulation.crash_broker(2, detected_after_s=60)
    made.simulation.hang("hanging-1", seconds=60)
    made.simulation.stop()
    assert [path for path, (_, ephemeral) in made.tree().items() if ephemeral] == []
    assert made.simulation.failures == []


def test_a_cluster_lives_on_after_zookeeper_was_started_anew(own_server: Callable[..., Server]) -> None:
    server = own_server()
    clock = SteppedClock()
    simulation = Simulation07(server.address, seed=3, definition=SMALL, time=clock)
    simulation.start()
    server.kill()
    server.start()
    client = KazooClient(hosts=server.address)
    client.start()

    def whole() -> bool:
        clock.advance(1.0)
        return (
            len(client.get_children("/brokers/ids")) == 3
            and len(client.get_children("/brokers/topics/orders")) == 3
            and len(client.get_children("/consumers/loader/ids")) == 2
        )

    wait_for(whole, 60, lambda: simulation.failures)
    client.stop()
    client.close()
    simulation.stop()
