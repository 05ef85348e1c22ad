"""The tree of a cluster of any size, as znodes: what the benchmarks and the tests of scale load.

Deterministic: the same arguments give the same paths, bytes and Stats.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec

from zkdash.znode import Stat, Znode

BEGAN = 1_763_719_200_000  # epoch milliseconds
BROKERS = 12
SESSION = 0x100000000000000

Node = tuple[str, Znode]


def tree(
    *,
    topics: int = 10_000,
    partitions: int = 20,
    groups: int = 1_000,
    dead: int = 0,
    brokers: int = BROKERS,
) -> Iterator[Node]:
    """Every path under the chroot with its znode, parents first. The default is the reference size.

    Each group of two consumers reads one topic: 8 znodes and two more for each partition. A dead one has
    only offsets left: 3 znodes and one more for each partition.
    """
    zxid = itertools.count(1)
    for path, data, owner in _nodes(topics, partitions, groups, dead, brokers):
        number = next(zxid)
        yield path, znode(data, zxid=number, owner=owner)


def znode(data: bytes | None, *, zxid: int, version: int = 0, owner: int = 0) -> Znode:
    """A znode last written by transaction `zxid`, a millisecond after the one before."""
    time = BEGAN + zxid
    size = len(data or b"")
    return Znode.of(data, Stat(zxid, zxid, time, time, version, 0, 0, owner, size, 0, zxid))


def state(leader: int, isr: list[int], *, leader_epoch: int = 0, controller_epoch: int = 1) -> bytes:
    """A partition's state as Kafka 3.9 writes it."""
    return _json(
        {
            "controller_epoch": controller_epoch,
            "leader": leader,
            "version": 1,
            "leader_epoch": leader_epoch,
            "isr": isr,
        }
    )


def replicas(topic: int, partition: int, brokers: int = BROKERS) -> list[int]:
    """Three brokers, the preferred leader first."""
    first = (topic + partition) % brokers
    return [(first + step * (1 + topic % 3)) % brokers + 1 for step in range(min(3, brokers))]


def topic_name(topic: int) -> str:
    return f"topic-{topic:05}"


def _nodes(
    topics: int, partitions: int, groups: int, dead: int, brokers: int
) -> Iterator[tuple[str, bytes | None, int]]:
    for path in ("/brokers", "/brokers/ids", "/brokers/topics", "/consumers", "/config", "/config/topics"):
        yield path, None, 0
    for path in ("/admin", "/admin/delete_topics", "/cluster"):
        yield path, None, 0
    yield "/cluster/id", _json({"version": "1", "id": "4L6g3nShT-eMCtK--X86sw"}), 0
    yield "/controller_epoch", b"1", 0
    yield (
        "/controller",
        _json({"version": 2, "brokerid": 1, "timestamp": str(BEGAN), "kraftControllerEpoch": -1}),
        SESSION,
    )
    for broker in range(1, brokers + 1):
        yield f"/brokers/ids/{broker}", _broker(broker), SESSION + broker
    for topic in range(topics):
        yield from _topic(topic, partitions, brokers)
    for group in range(groups):
        yield from _group(group, topics, partitions)
    for group in range(dead):
        yield from _dead(group, topics, partitions)


def _broker(broker: int) -> bytes:
    host = f"kafka-{broker}.example"
    return _json(
        {
            "features": {},
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            "endpoints": [f"PLAINTEXT://{host}:9092"],
            "jmx_port": -1,
            "rack": f"rack-{broker % 3}",
            "host": host,
            "timestamp": str(BEGAN),
            "port": 9092,
            "version": 5,
        }
    )


def _topic(topic: int, partitions: int, brokers: int) -> Iterator[tuple[str, bytes | None, int]]:
    name = topic_name(topic)
    assigned = {str(partition): replicas(topic, partition, brokers) for partition in range(partitions)}
    yield f"/config/topics/{name}", _json({"version": 1, "config": {"retention.ms": "604800000"}}), 0
    root = f"/brokers/topics/{name}"
    yield (
        root,
        _json({"partitions": assigned, "adding_replicas": {}, "removing_replicas": {}, "version": 3}),
        0,
    )
    yield f"{root}/partitions", None, 0
    for partition, ids in assigned.items():
        yield f"{root}/partitions/{partition}", None, 0
        # Epochs differ as they do after some months, so that not all states are alike.
        yield (
            f"{root}/partitions/{partition}/state",
            state(ids[0], ids, leader_epoch=(topic + int(partition)) % 7),
            0,
        )


def _group(group: int, topics: int, partitions: int) -> Iterator[tuple[str, bytes | None, int]]:
    root, topic = f"/consumers/group-{group:04}", topic_name(group % max(topics, 1))
    for path in (root, f"{root}/ids", f"{root}/owners", f"{root}/owners/{topic}", f"{root}/offsets"):
        yield path, None, 0
    yield f"{root}/offsets/{topic}", None, 0
    members = [f"group-{group:04}_host-{BEGAN}-0000000{member}" for member in range(2)]
    registration = _json(
        {"version": 1, "subscription": {topic: 1}, "pattern": "static", "timestamp": str(BEGAN)}
    )
    for member in members:
        yield f"{root}/ids/{member}", registration, SESSION + 1000 + group
    for partition in range(partitions):
        owner = members[partition * 2 // partitions]
        yield f"{root}/owners/{topic}/{partition}", f"{owner}-0".encode(), SESSION + 1000 + group
        yield f"{root}/offsets/{topic}/{partition}", str(1000 * group + partition).encode(), 0


def _dead(group: int, topics: int, partitions: int) -> Iterator[tuple[str, bytes | None, int]]:
    root, topic = f"/consumers/dead-{group:04}", topic_name(group % max(topics, 1))
    for path in (root, f"{root}/offsets", f"{root}/offsets/{topic}"):
        yield path, None, 0
    for partition in range(partitions):
        yield f"{root}/offsets/{topic}/{partition}", str(1000 * group + partition).encode(), 0


def _json(document: object) -> bytes:
    return msgspec.json.encode(document)
