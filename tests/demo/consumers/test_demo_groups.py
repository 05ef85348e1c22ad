"""The groups that the demo shows: what each is there for, and that its owners are those of its rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.demo.runtime.stepped_clock import SteppedClock
from tests.narrowing import sure
from tests.waiting import wait_for
from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.kafka07.feed import GROUPS as FEED_GROUPS
from zkdash.demo.kafka07.simulation import Simulation07
from zkdash.demo.kafka39.shop import GROUPS as SHOP_GROUPS
from zkdash.demo.kafka39.simulation import Simulation
from zkdash.demo.zookeeper.server import Server
from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.assignment_context import AssignmentContext
from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.consumers import subscriptions
from zkdash.kafka.layouts import consumers
from zkdash.kafka.values import Registration

pytestmark = pytest.mark.zk

SHOP = {group.name: group for group in SHOP_GROUPS}
FEED = {group.name: group for group in FEED_GROUPS}


class Shown:
    """A demo's cluster after its first minute."""

    def __init__(self, client: KazooClient, chroot: str) -> None:
        self._client = client
        self._chroot = chroot

    def children(self, path: str) -> list[str]:
        try:
            return sorted(self._client.get_children(self._chroot + path))
        except NoNodeError:
            return []

    def text(self, path: str) -> str:
        return str(self._client.get(self._chroot + path)[0], "utf-8")

    def partitions(self) -> dict[str, tuple[str, ...]]:
        """Partition keys of every topic."""
        found = {}
        for topic in self.children("/brokers/topics"):
            path = f"/brokers/topics/{topic}"
            below = [name for name in self.children(path) if name != "partitions"]
            counts = [(broker, int(self.text(f"{path}/{broker}"))) for broker in below]
            found[topic] = (
                tuple(f"{broker}-{part}" for broker, count in counts for part in range(count))
                if counts
                else tuple(json.loads(self.text(path))["partitions"])
            )
        return found

    def owners(self, group: str) -> dict[tuple[str, str], str]:
        root = f"/consumers/{group}/owners"
        keys = [(topic, key) for topic in self.children(root) for key in self.children(f"{root}/{topic}")]
        return {key: self.text(f"{root}/{key[0]}/{key[1]}") for key in keys}

    def plan(self, config: GroupConfig, rule: Rule | None = None) -> dict[tuple[str, str], str | None]:
        path = f"/consumers/{config.name}/ids"
        ids = self.children(path)
        registered = {
            name: sure(Registration, consumers.parse_registration(self.text(f"{path}/{name}").encode())[0])
            for name in ids
        }
        members = subscriptions.resolve(registered, self.children("/brokers/topics")).members
        plan = rules.assign(rule or config.rule, AssignmentContext(members, self.partitions()))
        return {(topic, key): owner for topic, keys in plan.owners.items() for key, owner in keys.items()}


def shown(zookeeper: Any, made: Any, chroot: str, configs: dict[str, GroupConfig]) -> Iterator[Shown]:
    """Let a demo live until every group has shared what there is."""
    client = KazooClient(hosts=zookeeper.address)
    client.start()
    made.start()
    seen = Shown(client, chroot)

    def shared() -> bool:
        made.time.advance(1.0)
        made.loop.run(lambda: None)
        return all(seen.owners(config.name) == seen.plan(config) for config in configs.values())

    try:
        wait_for(shared, 60, lambda: made.failures)
        made.time.advance(5.0)
        made.loop.run(lambda: None)
        yield seen
    finally:
        made.stop()
        client.stop()
        client.close()
    assert made.failures == []


@pytest.fixture(scope="module")
def shop(zookeeper: Server) -> Iterator[Shown]:
    made = Simulation(f"{zookeeper.address}/demo-shop", time=SteppedClock())
    yield from shown(zookeeper, made, "/demo-shop", SHOP)


@pytest.fixture(scope="module")
def feed(zookeeper: Server) -> Iterator[Shown]:
    made = Simulation07(f"{zookeeper.address}/demo-feed", time=SteppedClock())
    yield from shown(zookeeper, made, "/demo-feed", FEED)


@pytest.mark.parametrize("name", SHOP)
def test_a_group_of_the_shop_owns_what_its_rule_says(shop: Shown, name: str) -> None:
    owners = shop.owners(name)
    assert owners == shop.plan(SHOP[name])
    assert bool(owners) != (SHOP[name].abandoned or SHOP[name].periodic)


@pytest.mark.parametrize("name", FEED)
def test_a_group_of_the_feed_owns_what_its_rule_says(feed: Shown, name: str) -> None:
    owners = feed.owners(name)
    assert owners == feed.plan(FEED[name])
    assert bool(owners) != FEED[name].abandoned


@pytest.mark.parametrize(
    ("name", "other"),
    [("recommender", Rule.ROUND_ROBIN_BRACKETS), ("warehouse-sync", Rule.ROUND_ROBIN_HYPHEN)],
)
def test_a_round_robin_group_of_the_shop_tells_its_release(shop: Shown, name: str, other: Rule) -> None:
    assert shop.owners(name) != shop.plan(SHOP[name], other)


def test_the_shop_shows_every_kind_of_group() -> None:
    configs = SHOP.values()
    assert {config.rule for config in configs} == {
        Rule.RANGE,
        Rule.ROUND_ROBIN_ALIKE,
        Rule.ROUND_ROBIN_HYPHEN,
    }
    for kind in ("topics", "white_list", "black_list", "redeploys", "hangs", "abandoned", "periodic", "lags"):
        assert any(getattr(config, kind) for config in configs), kind
    assert not all(config.commits for config in configs)


@pytest.mark.parametrize(("cluster", "name"), [("shop", "sms-gateway"), ("feed", "invitation-mailer")])
def test_a_group_has_more_threads_than_partitions(
    request: pytest.FixtureRequest, cluster: str, name: str
) -> None:
    config = (SHOP | FEED)[name]
    owners = request.getfixturevalue(cluster).owners(name)
    assert len(set(owners.values())) == len(owners) < sum(config.members)


@pytest.mark.parametrize(
    ("cluster", "name"),
    [("shop", "email-digest"), ("shop", "nightly-report"), ("feed", "first-dashboards")],
)
def test_a_group_has_only_offsets(request: pytest.FixtureRequest, cluster: str, name: str) -> None:
    seen = request.getfixturevalue(cluster)
    assert seen.children(f"/consumers/{name}/ids") == []
    assert seen.owners(name) == {}
    assert seen.children(f"/consumers/{name}/offsets") == sorted((SHOP | FEED)[name].topics)


def test_a_group_keeps_its_offsets_in_kafka(shop: Shown) -> None:
    assert shop.owners("invoice-mirror")
    assert shop.children("/consumers/invoice-mirror/offsets") == []
