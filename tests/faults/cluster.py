"""A Kafka cluster of 1.1 as its znodes, with more to be asked for than a run asks."""

from __future__ import annotations

import json
from typing import Any

from kazoo.client import KazooClient

BROKERS = (1, 2, 3, 4)


def make(client: KazooClient, topics: int = 1, partitions: int = 4) -> None:
    """Four live brokers, topics t0, t1, … on brokers 1 and 2; broker 2 leads though broker 1 is preferred."""
    for path in (
        "/admin/delete_topics",
        "/config/changes",
        "/config/topics",
        "/config/brokers",
        "/consumers",
    ):
        client.ensure_path(path)
    for number in BROKERS:
        _put(client, f"/brokers/ids/{number}", registration(number))
    _put(client, "/controller", {"version": 1, "brokerid": 1, "timestamp": "1"}, ephemeral=True)
    client.create("/controller_epoch", b"1")
    for number in range(topics):
        topic(client, f"t{number}", partitions)


def topic(client: KazooClient, name: str, partitions: int) -> None:
    lists = {str(number): [1, 2] for number in range(partitions)}
    _put(client, f"/brokers/topics/{name}", {"version": 1, "partitions": lists})
    _put(client, f"/config/topics/{name}", {"version": 1, "config": {"retention.ms": "60000"}})
    led = {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 1, "isr": [1, 2]}
    states = [
        client.create_async(
            f"/brokers/topics/{name}/partitions/{number}/state", json.dumps(led).encode(), makepath=True
        )
        for number in range(partitions)
    ]
    for state in states:
        state.get(timeout=30)


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


def _put(client: KazooClient, path: str, document: object, *, ephemeral: bool = False) -> None:
    client.create(path, json.dumps(document).encode(), ephemeral=ephemeral, makepath=True)
