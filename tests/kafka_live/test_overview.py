"""Real Kafka brokers of the oldest and the newest era, seen on the pages of a real `manage.py serve`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import pytest
from kazoo.client import KazooClient

from tests.lab.cluster import Lab
from tests.lab.topics import Described
from tests.serving import Serve, Served
from tests.waiting import wait_for
from zkdash.zk.config import DEFAULT_NAME

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

of_both_eras = pytest.mark.parametrize("release", ["0.8.2.2", "3.9.1"], indirect=True, scope="session")
of_the_newest = pytest.mark.parametrize("release", ["3.9.1"], indirect=True, scope="session")
HOME = f"/c/{DEFAULT_NAME}/"
SESSION_LIMIT_S = 20.0

_numbers = count(1)


class Epochs(NamedTuple):
    """What only ZooKeeper tells of a partition."""

    leader: int
    controller: int


@pytest.fixture
def site(lab: Lab, release: str, served: Serve) -> Served:
    """A dashboard on a real cluster of two brokers."""
    lab.brokers(release, 2)
    return served(ZKDASH_ZOOKEEPER=lab.address(release))


@pytest.fixture
def topic(lab: Lab, release: str) -> Iterator[str]:
    """A topic name of the test's own; the topic is gone from ZooKeeper afterwards."""
    name = f"live-{next(_numbers)}"
    yield name
    lab.brokers(release, 2)[0].delete_topic(name)
    with lab.client(release) as client:
        wait_for(lambda: not client.exists(f"/brokers/topics/{name}"), limit_s=SESSION_LIMIT_S)


@pytest.fixture
def zookeeper_now(lab: Lab, release: str) -> Iterator[KazooClient]:
    """Reads the cluster's znodes, past the dashboard."""
    with lab.client(release) as client:
        yield client


def raw(client: KazooClient, path: str) -> Any:
    return json.loads(client.get(path)[0])


def held(client: KazooClient, topic: str) -> dict[int, tuple[Described, Epochs]]:
    """Each partition of a topic as its znodes say; empty until every partition has its state."""
    replicas = raw(client, f"/brokers/topics/{topic}")["partitions"]
    found = {}
    for partition, assigned in replicas.items():
        path = f"/brokers/topics/{topic}/partitions/{partition}/state"
        if not client.exists(path):
            return {}
        state = raw(client, path)
        found[int(partition)] = (
            Described(state["leader"], tuple(assigned), tuple(state["isr"])),
            Epochs(state["leader_epoch"], state["controller_epoch"]),
        )
    return found


def shown(site: Served, topic: str) -> dict[int, tuple[Described, Epochs]]:
    """Each partition of a topic as the Topic page's JSON says; empty until every partition has its state."""
    answer = site.get(f"{HOME}topics/{topic}/", Accept="application/json")
    rows = json.loads(answer.body)["rows"] if answer.status == 200 else []
    if any(row["isr"] is None for row in rows):
        return {}
    return {
        row["partition"]: (
            Described(row["leader"], tuple(row["replicas"]), tuple(row["isr"])),
            Epochs(row["leader_epoch"], row["controller_epoch"]),
        )
        for row in rows
    }


@of_both_eras
def test_real_brokers_and_their_controller_show_on_the_overview(
    site: Served, zookeeper_now: KazooClient
) -> None:
    def numbers() -> Any:
        return site.json(HOME)["numbers"]

    wait_for(lambda: numbers()["brokers"] == 2, message=numbers)
    assert numbers()["controller"] == raw(zookeeper_now, "/controller")["brokerid"]
    assert numbers()["controller_epoch"] == int(zookeeper_now.get("/controller_epoch")[0])


@of_both_eras
def test_the_topic_page_tells_what_describe_prints_and_zookeeper_holds(
    lab: Lab, release: str, site: Served, topic: str, zookeeper_now: KazooClient
) -> None:
    first, second = lab.brokers(release, 2)

    def agreed(*, alive: set[int]) -> dict[int, tuple[Described, Epochs]]:
        """What page and znodes agree on, once the ISRs hold exactly the living."""

        def same() -> dict[int, tuple[Described, Epochs]]:
            there = held(zookeeper_now, topic)
            settled = there and all(set(told.isr) == alive for told, _ in there.values())
            return there if settled and shown(site, topic) == there else {}

        return wait_for(
            same, limit_s=SESSION_LIMIT_S, message=lambda: (shown(site, topic), held(zookeeper_now, topic))
        )

    first.create_topic(topic, partitions=4, replicas=2)
    before = agreed(alive={1, 2})
    assert first.describe_topic(topic) == {number: told for number, (told, _) in before.items()}

    second.kill()
    after = agreed(alive={1})
    assert first.describe_topic(topic) == {number: told for number, (told, _) in after.items()}
    # Where broker 1 led already it may have dropped the other from the ISR itself, in the same epoch.
    led = [number for number, (told, _) in before.items() if told.leader == 2]
    assert all(after[number][1].leader > before[number][1].leader for number in led)

    second.start()
    again = agreed(alive={1, 2})
    assert first.describe_topic(topic) == {number: told for number, (told, _) in again.items()}


@of_the_newest
@pytest.mark.browser
def test_an_open_topics_page_shows_a_topic_that_kafkas_own_tool_creates(
    lab: Lab, release: str, site: Served, topic: str, page: Any
) -> None:
    from playwright.sync_api import expect

    page.goto(f"{site.address}{HOME}topics/")
    page.evaluate("window.unreloaded = true")
    row = page.locator("tbody tr").filter(has=page.get_by_role("link", name=topic, exact=True))
    expect(row).to_have_count(0)
    lab.brokers(release, 2)[0].create_topic(topic, partitions=3, replicas=2)
    expect(row).to_be_visible()
    assert page.evaluate("window.unreloaded")


@of_the_newest
@pytest.mark.browser
def test_an_open_overview_shows_a_killed_broker_go_and_come_back(
    lab: Lab, release: str, site: Served, page: Any
) -> None:
    from playwright.sync_api import expect

    second = lab.brokers(release, 2)[1]
    page.goto(site.address + HOME)
    page.evaluate("window.unreloaded = true")
    brokers = page.locator("#strip div").filter(has_text="Brokers").locator("dd")
    expect(brokers).to_have_text("2")
    second.kill()
    expect(brokers).to_have_text("1")
    second.start()
    expect(brokers).to_have_text("2")
    assert page.evaluate("window.unreloaded")
