"""What is written into ZooKeeper to ask Kafka for something, as bytes.

Source: kafka.zk.ReassignPartitionsZNode, PreferredReplicaElectionZNode, TopicZNode and ConfigEntityZNode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from zkdash.kafka.payloads.editing import write
from zkdash.kafka.values import Move


def reassignment(moves: Iterable[Move]) -> bytes:
    """/admin/reassign_partitions."""
    entries = [
        {"topic": move.topic, "partition": move.partition, "replicas": move.replicas} for move in moves
    ]
    return write({"version": 1, "partitions": entries})


def election(partitions: Iterable[tuple[str, int]]) -> bytes:
    """/admin/preferred_replica_election."""
    entries = [{"topic": topic, "partition": number} for topic, number in partitions]
    return write({"version": 1, "partitions": entries})


def topic(assignment: Mapping[int, tuple[int, ...]], version: int) -> bytes:
    """A new /brokers/topics/T. A topic_id is never made up: the controller adds it (2.8+)."""
    lists = {str(number): replicas for number, replicas in sorted(assignment.items())}
    document: dict[str, object] = {"version": version, "partitions": lists}
    if version >= 2:
        document |= {"adding_replicas": {}, "removing_replicas": {}}
    return write(document)


def config(settings: Mapping[str, str]) -> bytes:
    """A new /config/topics/T."""
    return write({"version": 1, "config": dict(settings)})


def batches(
    entries: Iterable[tuple[str, int]], most: int, *, bytes_each: int, largest: int, topics: int
) -> Iterator[range]:
    """Ranges of entries that fit one request together.

    At most `most` entries of at most `topics` topics, and data of at most `largest` bytes, where an entry
    takes its topic's name and `bytes_each`.
    """
    begin = end = size = 0
    named: set[str] = set()
    for name, _ in entries:
        entry = 2 * len(name.encode()) + bytes_each  # a name may have to be escaped
        full = end - begin >= most or size + entry > largest or (name not in named and len(named) >= topics)
        if full and end > begin:
            yield range(begin, end)
            begin, size, named = end, 0, set()
        named.add(name)
        size += entry
        end += 1
    if end > begin:
        yield range(begin, end)
