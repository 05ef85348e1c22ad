"""Real Kafka brokers of the oldest and the newest era, seen on the pages of a real `manage.py serve`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import pytest
from kazoo.client import KazooClient

from tests.kafka_live.conftest import OF_ITS_TIME
from tests.lab.cluster import Lab
from tests.lab.kafka import Broker
from tests.lab.topics import Described
from tests.lab.zookeeper import BUNDLED
from tests.serving import Served
from tests.waiting import wait_for as wait_often
from zkdash.configuration.file import DEFAULT_NAME

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

of_both_eras = pytest.mark.parametrize("release", ["0.8.2.2", "3.9.1"], indirect=True, scope="session")
of_the_newest = pytest.mark.parametrize("release", ["3.9.1"], indirect=True, scope="session")
HOME = f"/c/{DEFAULT_NAME}/"
LIMIT_S = 120.0
# Most looks are pages of a dashboard.
wait_for = partial(wait_often, every_s=0.05)

_numbers = count(1)


class Epochs(NamedTuple):
    """What only ZooKeeper tells of a partition."""

    leader: int
    controller: int


@pytest.fixture
def brokers(lab: Lab, release: str) -> list[Broker]:
    """The brokers of a real cluster."""
    return lab.brokers(release)


@pytest.fixture
def zookeeper_now(lab: Lab, release: str) -> Iterator[KazooClient]:
    """Reads the cluster's znodes, past the dashboard."""
    with lab.client(release) as client:
        yield client


@pytest.fixture
def topic(brokers: list[Broker], zookeeper_now: KazooClient) -> Iterator[str]:
    """A topic name of the test's own; the topic is gone from ZooKeeper afterwards."""
    name = f"live-{next(_numbers)}"
    yield name
    if zookeeper_now.exists(f"/brokers/topics/{name}"):
        brokers[0].delete_topic(name)
        wait_for(lambda: not zookeeper_now.exists(f"/brokers/topics/{name}"), limit_s=LIMIT_S)


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
def test_real_brokers_their_controller_and_the_release_of_their_zookeeper_show(
    brokers: list[Broker], release: str, dashboard: Served, zookeeper_now: KazooClient
) -> None:
    def there() -> tuple[int, int, int]:
        epoch = int(zookeeper_now.get("/controller_epoch")[0])
        return len(brokers), raw(zookeeper_now, "/controller")["brokerid"], epoch

    def told() -> tuple[int, int, int]:
        numbers = dashboard.json(HOME)["numbers"]
        return numbers["brokers"], numbers["controller"], numbers["controller_epoch"]

    wait_for(lambda: told() == there(), limit_s=LIMIT_S, message=lambda: (told(), there()))

    def version() -> str:
        (row,) = dashboard.json(f"{HOME}zookeeper/")["rows"]
        return str(row["version"])

    wait_for(
        lambda: version().startswith(OF_ITS_TIME.get(release, BUNDLED)), limit_s=LIMIT_S, message=version
    )


@of_both_eras
def test_the_topic_page_tells_what_describe_prints_and_zookeeper_holds(
    lab: Lab, brokers: list[Broker], dashboard: Served, topic: str, zookeeper_now: KazooClient
) -> None:
    first, *_, last = brokers

    def agreed(*, alive: set[int]) -> dict[int, tuple[Described, Epochs]]:
        """What page, znodes and tool agree on, once the ISRs hold exactly the living."""

        def same() -> dict[int, tuple[Described, Epochs]]:
            there = held(zookeeper_now, topic)
            settled = there and all(
                set(told.isr) == alive.intersection(told.replicas) for told, _ in there.values()
            )
            is_same = settled and shown(dashboard, topic) == there
            return there if is_same and printed() == {n: told for n, (told, _) in there.items()} else {}

        def standing() -> object:
            return shown(dashboard, topic), held(zookeeper_now, topic), printed()

        return wait_for(same, limit_s=LIMIT_S, message=standing)

    def printed() -> dict[int, Described]:
        return first.describe_topic(topic)

    everybody = {broker.id for broker in brokers}
    first.create_topic(topic, partitions=2 * len(brokers), replicas=2)
    before = agreed(alive=everybody)

    with lab.without(last):
        after = agreed(alive=everybody - {last.id})
    # Who led already may have dropped the other from the ISR itself, in the same epoch.
    led = [number for number, (told, _) in before.items() if told.leader == last.id]
    assert led
    assert all(after[number][1].leader > before[number][1].leader for number in led)

    agreed(alive=everybody)
    first.delete_topic(topic)
    wait_for(
        lambda: all(row["name"] != topic for row in dashboard.json(f"{HOME}topics/")["rows"]), limit_s=LIMIT_S
    )


@of_the_newest
@pytest.mark.browser
def test_an_open_topics_page_shows_a_topic_that_kafkas_own_tool_creates(
    brokers: list[Broker], dashboard: Served, topic: str, page: Any
) -> None:
    from playwright.sync_api import expect

    page.goto(f"{dashboard.address}{HOME}topics/")
    page.evaluate("window.unreloaded = true")
    row = page.locator("tbody tr").filter(has=page.get_by_role("link", name=topic, exact=True))
    expect(row).to_have_count(0)
    brokers[0].create_topic(topic, partitions=3, replicas=2)
    expect(row).to_be_visible(timeout=LIMIT_S * 1000)
    assert page.evaluate("window.unreloaded")


@of_the_newest
@pytest.mark.browser
def test_an_open_overview_shows_a_killed_broker_go_and_come_back(
    lab: Lab, brokers: list[Broker], dashboard: Served, page: Any
) -> None:
    from playwright.sync_api import expect

    page.goto(dashboard.address + HOME)
    page.evaluate("window.unreloaded = true")
    shown = page.locator("#strip div").filter(has_text="Brokers").locator("dd")
    expect(shown).to_have_text(str(len(brokers)), timeout=LIMIT_S * 1000)
    with lab.without(brokers[-1]):
        expect(shown).to_have_text(str(len(brokers) - 1), timeout=LIMIT_S * 1000)
    expect(shown).to_have_text(str(len(brokers)), timeout=LIMIT_S * 1000)
    assert page.evaluate("window.unreloaded")
