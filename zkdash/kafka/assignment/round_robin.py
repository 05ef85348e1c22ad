"""Round robin over all topics of a group: partition.assignment.strategy=roundrobin, 0.8.2 to 1.1.

Partitions stand in the order of the Java hash of their text, threads as text in a circle. The text was
changed in 1.0, so that consumers of both sides compute different plans from the same registrations.
Source: kafka.consumer.RoundRobinAssignor, kafka.common.TopicAndPartition (0.8.2 to 0.11) and
org.apache.kafka.common.TopicPartition (1.0 and later).
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from zkdash.kafka.assignment.demand import Demand, Partitions, Plan
from zkdash.kafka.strings import java_hash, java_sorted

# The text of a partition: what comes before the topic, between it and the number, and after.
BRACKETS = ("[", ",", "]")
HYPHEN = ("", "-", "")
Form = tuple[str, str, str]

_TIE = "partitions whose texts have the same hash stand in an order that Kafka leaves to a Scala map"


class _Entry(NamedTuple):
    code: int
    topic: str
    key: str


def assign_alike(demand: Demand, form: Form = BRACKETS) -> Plan:
    """The plan of 0.8.2 to 0.10.1, which demand the same threads for every topic of the group.

    Where they are the same, it is the plan that later releases make in that form.
    """
    threads = {topic: frozenset(ids) for topic, ids in demand.threads.items()}
    if len(set(threads.values())) > 1:
        one, other = _two_that_differ(threads)
        return Plan(
            {},
            refused=f"round robin of 0.8.2 to 0.10.1 needs the same threads for every topic of the group, "
            f"and those of {one} and {other} differ",
        )
    return assign(demand, form)


def assign(demand: Demand, form: Form = BRACKETS) -> Plan:
    """The plan of 0.10.2 and later: a thread that does not subscribe to a partition's topic is passed by.

    The text form is BRACKETS to 0.11 and HYPHEN from 1.0.
    """
    circle = java_sorted(frozenset().union(*demand.threads.values()))
    place = {thread: index for index, thread in enumerate(circle)}
    seats = {topic: sorted({place[thread] for thread in ids}) for topic, ids in demand.threads.items() if ids}
    owners: dict[str, dict[str, str | None]] = {}
    at: int | None = 0  # where the circle stands, None where a tie leaves that open
    told = True
    entries = sorted(_entries(demand.partitions, seats, form))
    for _, run in itertools.groupby(entries, key=lambda entry: entry.code):
        tied = list(run)
        candidates, at = _deal([seats[entry.topic] for entry in tied], at, len(circle))
        for entry, threads in zip(tied, candidates, strict=True):
            owners.setdefault(entry.topic, {})[entry.key] = circle[threads[0]] if len(threads) == 1 else None
            told &= len(threads) == 1
    return Plan(owners, undetermined=None if told else _TIE)


def _deal(tied: list[list[int]], at: int | None, size: int) -> tuple[list[list[int]], int | None]:
    """The places that each partition of a run may go to, and where the circle stands thereafter.

    `tied` holds the places of the threads that subscribe, sorted, by partition of the run.
    """
    seats = tied[0]
    alike = all(other == seats for other in tied[1:])
    if alike and len(seats) == 1:
        return tied, (seats[0] + 1) % size
    if at is None or not alike:
        # The order decides who is passed by: anything may follow.
        return tied, None
    first = bisect_left(seats, at)
    got = [seats[(first + step) % len(seats)] for step in range(len(tied))]
    return [sorted(set(got))] * len(tied), (got[-1] + 1) % size


def _entries(partitions: Partitions, topics: Iterable[str], form: Form) -> Iterator[_Entry]:
    before, between, after = form
    for topic in topics:
        start = java_hash(f"{before}{topic}{between}")
        for key in partitions.get(topic, ()):
            yield _Entry(java_hash(f"{key}{after}", start), topic, key)


def _two_that_differ(threads: Mapping[str, frozenset[str]]) -> tuple[str, str]:
    one = min(threads)
    return one, min(topic for topic in threads if threads[topic] != threads[one])
