"""What Kafka 3.9, a 0.7 broker and the old consumers write into their znodes, byte for byte.

The order of fields is that of the JSON which a real 3.9.1 broker writes (Scala's hash order for the broker:
kafka.zk.BrokerIdZNode). Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from zkdash.kafka.values import PartitionState, Pattern


def compact(value: object) -> bytes:
    """JSON without spaces, as Kafka's encoder writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def broker(*, host: str, port: int, rack: str, timestamp_ms: int) -> bytes:
    """/brokers/ids/N, version 5."""
    return compact(
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
    return compact(
        {"version": 2, "brokerid": broker_id, "timestamp": str(timestamp_ms), "kraftControllerEpoch": -1}
    )


def cluster_id(name: str) -> bytes:
    """/cluster/id; its version is text."""
    return compact({"version": "1", "id": name})


def feature() -> bytes:
    """/feature, enabled and without features."""
    return compact({"features": {}, "version": 2, "status": 1})


def topic(
    partitions: Mapping[int, Sequence[int]],
    *,
    topic_id: str,
    adding: Mapping[int, Sequence[int]],
    removing: Mapping[int, Sequence[int]],
) -> bytes:
    """/brokers/topics/T, version 3."""
    return compact(
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
    return compact(
        {
            "controller_epoch": value.controller_epoch,
            "leader": value.leader,
            "version": 1,
            "leader_epoch": value.leader_epoch,
            "isr": list(value.isr),
        }
    )


def config(overrides: Mapping[str, str]) -> bytes:
    """/config/topics/T."""
    return compact({"version": 1, "config": dict(overrides)})


def config_change(entity_path: str) -> bytes:
    """/config/changes/config_change_N, version 2."""
    return compact({"version": 2, "entity_path": entity_path})


def reassignment(moves: Iterable[tuple[str, int, Sequence[int]]]) -> bytes:
    """/admin/reassign_partitions: what is still to move."""
    entries = [{"topic": t, "partition": p, "replicas": list(replicas)} for t, p, replicas in moves]
    return compact({"version": 1, "partitions": entries})


def registration(subscription: Mapping[str, int], *, pattern: str, timestamp_ms: int) -> bytes:
    """/consumers/G/ids/<consumer id> of 0.8 to 1.1; `pattern` is static, white_list or black_list."""
    return compact(
        {
            "version": 1,
            "subscription": dict(subscription),
            "pattern": pattern,
            "timestamp": str(timestamp_ms),
        }
    )


def registration_07(subscription: Mapping[str, int], *, pattern: Pattern) -> bytes:
    """/consumers/G/ids/<consumer id> of 0.7: topics and threads, or `*threads*regex`, `!threads!regex`."""
    if pattern is Pattern.STATIC:
        topics = ",".join(f'"{topic}": {threads}' for topic, threads in subscription.items())
        return f"{{ {topics} }}".encode()
    mark = "*" if pattern is Pattern.WHITE_LIST else "!"
    ((regex, threads),) = subscription.items()
    return f"{mark}{threads}{mark}{regex}".encode()


def broker_07(*, host: str, port: int, timestamp_ms: int) -> bytes:
    """/brokers/ids/N of 0.7: creator:host:port, where the creator is the host and the start."""
    return f"{host}-{timestamp_ms}:{host}:{port}".encode()


def _by_text(replicas: Mapping[int, Sequence[int]]) -> dict[str, list[int]]:
    return {str(partition): list(ids) for partition, ids in replicas.items()}
