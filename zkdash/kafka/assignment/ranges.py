"""Consecutive runs of one topic's partitions to threads: Kafka's range, and what documents say of it.

Every function takes a topic's partitions and the thread ids of the members that subscribe to it, and answers
the owner by partition. Nobody to own: an empty answer. Thread ids sort as text in every release (`-10`
before `-2`); partitions sort as numbers in 0.8 and later, in 0.7 as the text "broker-part" (`0-10` before
`0-2`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from zkdash.kafka.strings import java_sorted

P = TypeVar("P", int, str)


def assign_range(partitions: Collection[P], threads: Collection[str]) -> dict[P, str]:
    """Kafka's own rule: the first threads take one partition more each where they do not divide evenly.

    Releases: 0.7 to 1.1, the default (0.7 knows no other). Source: ZookeeperConsumerConnector.rebalance
    (0.7 to 0.8.1), kafka.consumer.RangeAssignor (0.8.2 and later).
    """
    if not threads:
        return {}
    runs, extra = divmod(len(partitions), len(threads))
    waiting = iter(sorted(partitions))
    owners: dict[P, str] = {}
    for index, thread in enumerate(java_sorted(threads)):
        for _ in range(runs + (1 if index < extra else 0)):
            owners[next(waiting)] = thread
    return owners


def assign_floor(partitions: Collection[P], threads: Collection[str]) -> dict[P, str]:
    """N = size(PT)/size(CG) rounded down, as documents 000 to 003 read: the remainder has no owner.

    No release does this.
    """
    return _even(sorted(partitions), threads, len(partitions) // len(threads)) if threads else {}


def assign_ceil(partitions: Collection[P], threads: Collection[str]) -> dict[P, str]:
    """M = partitions / threads rounded up, as document 004 says: the last threads may get nothing.

    No release does this; the document's own example follows Kafka's rule instead.
    """
    return _even(sorted(partitions), threads, -(-len(partitions) // len(threads))) if threads else {}


def _even(partitions: Sequence[P], threads: Collection[str], size: int) -> dict[P, str]:
    """Thread i takes partitions i * size to (i + 1) * size - 1."""
    return {
        partition: thread
        for index, thread in enumerate(java_sorted(threads))
        for partition in partitions[index * size : (index + 1) * size]
    }
