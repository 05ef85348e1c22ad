"""The groups that the demo shows: what each is there for, and that its owners are those of its rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.narrowing import sure
from tests.waiting import wait_for
from zkdash.demo import catalogue, catalogue07
from zkdash.demo.clock import SteppedClock
from zkdash.demo.simulation import Simulation
from zkdash.demo.simulation07 import Simulation07
from zkdash.demo.specs import GroupSpec
from zkdash.demo.zookeeper import Server
from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.demand import Demand
from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.consumers import subscriptions
from zkdash.kafka.layouts import consumers
from zkdash.kafka.values import Registration

pytestmark = pytest.mark.zk

SHOP = {spec.name: spec for spec in catalogue.GROUPS}
FEED = {spec.name: spec for spec in catalogue07.GROUPS}


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

    def plan(self, spec: GroupSpec, rule: Rule | None = None) -> dict[tuple[str, str], str | None]:
        path = f"/consumers/{spec.name}/ids"
        ids = self.children(path)
        registered = {
            name: sure(Registration, consumers.parse_registration(self.text(f"{path}/{name}").encode())[0])
            for name in ids
        }
        members = subscriptions.resolve(registered, self.children("/brokers/topics")).members
        plan = rules.plan(rule or spec.rule, Demand(members, self.partitions()))
        return {(topic, key): owner for topic, keys in plan.owners.items() for key, owner in keys.items()}


def shown(zookeeper: Any, made: Any, chroot: str, specs: dict[str, GroupSpec]) -> Iterator[Shown]:
    """Let a demo live until every group has shared what there is."""
    client = KazooClient(hosts=zookeeper.address)
    client.start()
    made.start()
    seen = Shown(client, chroot)

    def shared() -> bool:
        made.time.advance(1.0)
        made.steps.call(lambda: None)
        return all(seen.owners(spec.name) == seen.plan(spec) for spec in specs.values())

    try:
        wait_for(shared, 60, lambda: made.failures)
        made.time.advance(5.0)
        made.steps.call(lambda: None)
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
    assert bool(owners) != (SHOP[name].abandoned or SHOP[name].nightly)


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
    specs = SHOP.values()
    assert {spec.rule for spec in specs} == {Rule.RANGE, Rule.ROUND_ROBIN_ALIKE, Rule.ROUND_ROBIN_HYPHEN}
    for kind in ("topics", "white_list", "black_list", "restless", "drowsy", "abandoned", "nightly", "slow"):
        assert any(getattr(spec, kind) for spec in specs), kind
    assert not all(spec.commits for spec in specs)


@pytest.mark.parametrize(("cluster", "name"), [("shop", "sms-gateway"), ("feed", "invitation-mailer")])
def test_a_group_has_more_threads_than_partitions(
    request: pytest.FixtureRequest, cluster: str, name: str
) -> None:
    spec = (SHOP | FEED)[name]
    owners = request.getfixturevalue(cluster).owners(name)
    assert len(set(owners.values())) == len(owners) < sum(spec.members)


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
