"""What brokers of Kafka 3.9 write into their znodes, byte for byte.

The order of fields is that of the JSON which a real 3.9.1 broker writes (Scala's hash order for the broker:
kafka.zk.BrokerIdZNode). Pure.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from random import Random

from zkdash.kafka.payloads import editing
from zkdash.kafka.values import PartitionState


def broker(*, host: str, port: int, rack: str, timestamp_ms: int) -> bytes:
    """/brokers/ids/N, version 5."""
    return editing.write(
        {
            "features": {},
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            "endpoints": [f"PLAINTEXT://{host}:{port}"],
            "rack": rack,
            "jmx_port": -1,
            "port": port,
            "host": host,
            "version": 5,
            "timestamp": str(timestamp_ms),
        }
    )


def controller(broker_id: int, *, timestamp_ms: int) -> bytes:
    """/controller, version 2 of a ZooKeeper-mode broker."""
    return editing.write(
        {"version": 2, "brokerid": broker_id, "timestamp": str(timestamp_ms), "kraftControllerEpoch": -1}
    )


def cluster_id(name: str) -> bytes:
    """/cluster/id; its version is text."""
    return editing.write({"version": "1", "id": name})


def feature() -> bytes:
    """/feature, enabled and without features."""
    return editing.write({"features": {}, "version": 2, "status": 1})


def topic(
    partitions: Mapping[int, Sequence[int]],
    *,
    topic_id: str,
    adding: Mapping[int, Sequence[int]],
    removing: Mapping[int, Sequence[int]],
) -> bytes:
    """/brokers/topics/T, version 3."""
    return editing.write(
        {
            "partitions": _by_text(partitions),
            "topic_id": topic_id,
            "adding_replicas": _by_text(adding),
            "removing_replicas": _by_text(removing),
            "version": 3,
        }
    )


def state(value: PartitionState) -> bytes:
    """/brokers/topics/T/partitions/P/state, version 1 of a recovered leader."""
    return editing.write(
        {
            "controller_epoch": value.controller_epoch,
            "leader": value.leader,
            "version": 1,
            "leader_epoch": value.leader_epoch,
            "isr": list(value.isr),
        }
    )


def new_topic_id(random: Random) -> str:
    """22 characters of URL-safe base64: a UUID as Kafka writes it."""
    return base64.urlsafe_b64encode(random.randbytes(16)).rstrip(b"=").decode()


def _by_text(replicas: Mapping[int, Sequence[int]]) -> dict[str, list[int]]:
    return {str(partition): list(ids) for partition, ids in replicas.items()}
