"""A Kafka cluster of 1.1 as its znodes, with more to be asked for than a run asks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kazoo.client import KazooClient

BROKERS = (1, 2, 3, 4)
_DIRECTORIES = (
    "/admin/delete_topics",
    "/config/changes",
    "/config/topics",
    "/config/brokers",
    "/consumers",
)


def make(client: KazooClient, topics: int = 1, partitions: int = 4) -> None:
    """Four live brokers, topics t0, t1, … on brokers 1 and 2; broker 2 leads though broker 1 is preferred."""
    made: dict[str, Any] = dict.fromkeys(_DIRECTORIES)
    made |= {f"/brokers/ids/{number}": registration(number) for number in BROKERS}
    made |= {"/brokers/topics": None, "/controller_epoch": 1}
    for number in range(topics):
        made |= _topic(f"t{number}", partitions)
    _create(client, made, roots=("/",))
    client.create("/controller", _data({"version": 1, "brokerid": 1, "timestamp": "1"}), ephemeral=True)


def topics(client: KazooClient, partitions: dict[str, int]) -> None:
    """More topics, each with so many partitions."""
    made: dict[str, Any] = {}
    for name, count in partitions.items():
        made |= _topic(name, count)
    _create(client, made, roots=("/", "/brokers", "/brokers/topics", "/config", "/config/topics"))


def _topic(name: str, partitions: int) -> dict[str, Any]:
    lists = {str(number): [1, 2] for number in range(partitions)}
    led = {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 1, "isr": [1, 2]}
    path = f"/brokers/topics/{name}"
    return {
        path: {"version": 1, "partitions": lists},
        f"/config/topics/{name}": {"version": 1, "config": {"retention.ms": "60000"}},
        **{f"{path}/partitions/{number}/state": led for number in range(partitions)},
    }


def registration(number: int) -> dict[str, Any]:
    return {
        "version": 4,
        "host": f"kafka-{number}",
        "port": 9092,
        "jmx_port": -1,
        "timestamp": "1",
        "endpoints": [f"PLAINTEXT://kafka-{number}:9092"],
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
    }


def _data(document: object) -> bytes:
    return b"" if document is None else json.dumps(document).encode()


def _create(client: KazooClient, documents: dict[str, Any], roots: Iterable[str]) -> None:
    """Create znodes and what stands above them in one transaction; the roots are there."""
    every = dict(documents)
    for path in documents:
        parent = path.rpartition("/")[0]
        while parent:
            every.setdefault(parent, None)
            parent = parent.rpartition("/")[0]
    transaction = client.transaction()
    for path in sorted(every.keys() - set(roots)):
        transaction.create(path, _data(every[path]))
    failed = [result for result in transaction.commit() if isinstance(result, Exception)]
    assert not failed, failed
