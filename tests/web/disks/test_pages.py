"""The pages of brokers' disks, on tables of the newest run, as a person and as a program get them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.cluster import small
from tests.history import disks
from tests.history.writing import put
from tests.web import states
from tests.web.markup import Markup
from zkdash.configuration.log_dirs import LogDirs
from zkdash.time_units import DAY_MS
from zkdash.zk.config import ClusterConfig

SEEN = 1_795_348_800_000
LOG = "/c/demo/topics/orders/log/"
DISK = "/c/demo/brokers/1/disk/"


@pytest.fixture
def history(tmp_path: Path, settings: Settings) -> Path:
    """Where the tables of the cluster demo lie, whose topic orders keeps messages for a day."""
    settings.ZKDASH_HISTORY = tmp_path
    directories = (
        LogDirs(broker=1, directories=("/mnt/kafka-1",)),
        LogDirs(broker=2, directories=("/mnt/kafka-2",)),
    )
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),), segments=directories),)
    brokers = small.broker(1) | small.broker(2)
    topic = small.topic("orders", {0: [1, 2], 1: [2, 1]})
    states.publish(brokers | topic | small.config("orders", **{"retention.ms": str(DAY_MS)}))
    return tmp_path / "demo"


def fill(history: Path) -> None:
    disks.write(history, SEEN)


def markup(address: str) -> Markup:
    answer = Client().get(address)
    assert answer.status_code == 200
    return Markup(answer)


def links(page: Markup) -> list[str | None]:
    return [link.get("href") for link in page.all("a")]


def document(address: str) -> dict[str, Any]:
    answer = Client().get(f"{address}?format=json")
    assert answer.status_code == 200
    read: dict[str, Any] = json.loads(answer.content)
    return read


def test_a_partitions_log_is_told_replica_by_replica_with_when_retention_deletes_it(history: Path) -> None:
    fill(history)
    page = markup(LOG)
    assert page.text("h1") == "Log of orders-0"
    assert [lane.text_content() for lane in page.all("#log-lanes dt")] == ["Broker 1", "Broker 2"]
    assert [len(lane) for lane in page.all("#log-lanes svg")] == [2, 2]
    assert "broker 1 holds none, broker 2 holds an entry" in page.text("#replica-logs")
    assert "Partitions whose replicas differ: 0" in page.text("main")
    told = document(LOG)
    assert [row["broker"] for row in told["replicas"]] == [1, 2]
    assert told["replicas"][0]["compared"] is None
    rows = {(row["broker"], row["base_offset"]): row for row in told["rows"]}
    first, last = rows[1, 0], rows[1, 20]
    # its newest entry is 20 minutes after SEEN, and a day later it goes
    assert first["deleted"] == "2026-11-23T12:20:00.000Z"
    assert first["deleted_why"] == "retention.ms"
    assert (first["tail"], last["tail"]) == (None, "at byte 40 the segment ends within an entry")
    unread = rows[2, 20]
    assert (unread["records"], unread["records_reason"]) == (
        None,
        "a run of the pipeline has not read it yet",
    )
    assert unread["bytes"] == 50
    why = "a run of the pipeline has not read all of the log yet"
    assert (unread["deleted"], unread["deleted_reason"]) == (None, why)


def test_a_partition_that_lies_on_no_disk_is_another_than_one_that_does(history: Path) -> None:
    fill(history)
    page = markup(f"{LOG}?partition=1")
    assert page.text("h1") == "Log of orders-1"
    assert "No disk holds a replica of it" in page.text("#replica-logs")
    assert "is not a number from 0" in markup(f"{LOG}?partition=x").text("body")
    assert "log/" in links(markup("/c/demo/topics/orders/"))


def test_a_brokers_disk_is_told_by_topic_and_what_grew_only_where_it_is_known(history: Path) -> None:
    fill(history)
    (row,) = document(DISK)["rows"]
    assert (row["topic"], row["bytes"], row["partitions"], row["segments"]) == ("orders", 150, 1, 2)
    assert (row["grown"], "a day before" in row["grown_reason"]) == (None, True)
    before = {"minute": SEEN - DAY_MS, "broker": 1, "topic": "orders", "partitions": 1, "segments": 1}
    put(history, "disk_usage", [{**before, "bytes": 90}])
    told = document(DISK)
    assert (told["bytes"], told["directories"], told["rows"][0]["grown"]) == (150, ["/mnt/kafka-1"], 60)
    page = markup(DISK)
    assert "/c/demo/topics/orders/log/" in links(page)
    assert page.all("#disk-topics svg")
    assert "disk/" in links(markup("/c/demo/brokers/1/"))


def test_what_nobody_configured_or_read_says_what_to_do(history: Path, settings: Settings) -> None:
    assert "No run of the pipeline" in markup(LOG).text("main")
    assert document(DISK)["rows"] == []
    assert Client().get("/c/demo/brokers/x/disk/").status_code == 404
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),)),)
    for address in (LOG, DISK):
        assert "name the log.dirs of its brokers as segments" in markup(address).text("main")
    assert "log/" not in links(markup("/c/demo/topics/orders/"))
