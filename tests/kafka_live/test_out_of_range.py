"""Offsets that a real log does not hold: what the Group page tells of them, and what a consumer then does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import pytest

from tests.kafka_live.sampling import LIMIT_S, Site, sampling
from tests.lab import tools
from tests.lab.cluster import Lab
from tests.lab.tools import NEW, OLD
from tests.serving import Served
from tests.waiting import wait_for as wait_often

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

# records can be deleted since 0.11 (KIP-107), the old consumer went with 2.0
deletes_records = pytest.mark.parametrize("release", ["1.1.1", "3.9.1"], indirect=True, scope="session")
has_old_consumer = pytest.mark.parametrize("release", ["0.8.2.2", "1.1.1"], indirect=True, scope="session")

MESSAGES, READ, DELETED = 30, 10, 20
BEYOND = 1_000
# Most looks are pages of a dashboard.
wait_for = partial(wait_often, every_s=0.05)

_numbers = count(1)


@pytest.fixture(scope="module")
def site(lab: Lab, release: str) -> Iterator[Site]:
    with sampling(lab, release) as site:
        yield site


@pytest.fixture
def topic(site: Site) -> str:
    """A topic of one partition with messages."""
    name = f"outside-{next(_numbers)}"
    site.create(name, 1)
    tools.produce(site.brokers[0], name, MESSAGES)
    return name


@deletes_records
def test_an_offset_whose_records_were_deleted_is_told_and_a_consumer_goes_on_as_was_told(
    site: Site, topic: str, dashboard: Served
) -> None:
    group, first = f"of-{topic}", site.brokers[0]
    tools.consume(first, NEW, group, topic, READ, max_poll_records=str(READ))
    tools.delete_records(first, topic, {0: DELETED})

    entry = outside(dashboard, group)
    assert (entry["is"], entry["offset"], entry["kept_in"]) == ("before the log's start", READ, "Kafka")
    assert (entry["log_start"], entry["log_end"]) == (DELETED, MESSAGES)
    assert entry["earliest"] == {"to": DELETED, "lost": 10, "skipped": 0, "again": 0}
    assert entry["latest"] == {"to": MESSAGES, "lost": 10, "skipped": 10, "again": 0}

    printed = tools.consume(first, NEW, group, topic, 1, first=False, max_poll_records="1")
    assert "message 20" in printed


@has_old_consumer
def test_an_offset_behind_the_logs_end_in_zookeeper_is_told(
    site: Site, topic: str, dashboard: Served
) -> None:
    group = f"of-{topic}"
    tools.consume(site.brokers[0], OLD, group, topic, READ, offsets_storage="zookeeper")
    site.client.set(f"/consumers/{group}/offsets/{topic}/0", str(BEYOND).encode())

    entry = outside(dashboard, group)
    assert (entry["is"], entry["offset"], entry["kept_in"]) == ("behind its end", BEYOND, "ZooKeeper")
    assert (entry["log_start"], entry["log_end"]) == (0, MESSAGES)
    assert entry["earliest"] == {"to": 0, "lost": 0, "skipped": 0, "again": MESSAGES}
    assert entry["latest"] == {"to": MESSAGES, "lost": 0, "skipped": 0, "again": 0}


def outside(dashboard: Served, group: str) -> dict[str, Any]:
    """The group's one offset that its log does not hold, once the page tells of it."""
    documents: list[dict[str, Any]] = []

    def told() -> dict[str, Any] | None:
        answer = dashboard.get(f"/c/default/groups/{group}/", Accept="application/json")
        if answer.status != 200:
            return None
        documents[:] = [json.loads(answer.body)]
        entries = documents[0]["out_of_range"]["offsets"]
        return entries[0] if len(entries) == 1 else None

    return wait_for(told, limit_s=LIMIT_S, message=lambda: documents)
