"""What consumers of a group compute their owners from, after kafka.consumer.AssignmentContext."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec

from zkdash.kafka.consumers import consumer_ids

Partitions = Mapping[str, tuple[str, ...]]


class AssignmentContext(msgspec.Struct, frozen=True, dict=True):
    """What a rebalance computes from.

    `members`: number of threads by topic by consumer id, wildcards resolved. `partitions`: partition keys
    by topic as owners are keyed ("3", in 0.7 "broker-part"); a topic that is subscribed to and does not
    exist has none.
    """

    members: Mapping[str, Mapping[str, int]]
    partitions: Partitions

    @functools.cached_property
    def threads(self) -> Mapping[str, list[str]]:
        """Thread ids by topic, of every topic that somebody subscribes to."""
        threads: dict[str, list[str]] = {}
        for member, topics in self.members.items():
            ids = {count: consumer_ids.thread_ids(member, count) for count in {*topics.values()}}
            for topic, count in topics.items():
                threads.setdefault(topic, []).extend(ids[count])
        return threads


class PartitionAssignment(msgspec.Struct, frozen=True):
    """Who owns which partition by one rule (kafka.consumer.PartitionAssignment).

    `owners`: thread id by partition key by topic; a partition that the rule leaves without an owner is
    missing, one whose owner cannot be told is None. `refused` says why consumers of this rule would fail
    their rebalance instead, and so own nothing; `undetermined` why some owners cannot be told.
    """

    owners: Mapping[str, Mapping[str, str | None]]
    refused: str | None = None
    undetermined: str | None = None

    def owner(self, topic: str, key: str) -> str | None:
        """The owner of a partition, None where there is none or it cannot be told."""
        return self.owners.get(topic, {}).get(key)


def is_07(key: str) -> bool:
    """Whether a partition key is 0.7's "broker-part"."""
    return "-" in key


def add_member(context: AssignmentContext, member: str, threads: Mapping[str, int]) -> AssignmentContext:
    """The context with one more member. Where its id is taken, its threads by topic are replaced."""
    return AssignmentContext({**context.members, member: dict(threads)}, context.partitions)


def remove_member(context: AssignmentContext, member: str) -> AssignmentContext:
    """The context without a member."""
    return AssignmentContext(
        {name: topics for name, topics in context.members.items() if name != member}, context.partitions
    )


def set_threads(
    context: AssignmentContext, member: str, count: int, topic: str | None = None
) -> AssignmentContext:
    """The context with another number of threads of a member, for one of its topics or for all of them.

    With 0 threads the member does not subscribe. An unknown member changes nothing.
    """
    topics = dict(context.members.get(member, {}))
    for name in topics if topic is None else topics.keys() & {topic}:
        topics[name] = count
    if member not in context.members:
        return context
    return add_member(context, member, {name: threads for name, threads in topics.items() if threads > 0})


def grow(context: AssignmentContext, topic: str, count: int) -> AssignmentContext:
    """The context with `count` partitions of a topic, in 0.7 on each of its brokers. Partitions never go."""
    keys = context.partitions.get(topic, ())
    brokers = {key.partition("-")[0] for key in keys if is_07(key)}
    more = [f"{broker}-{part}" for broker in brokers for part in range(count)] or map(str, range(count))
    grown = tuple(dict.fromkeys((*keys, *more)))
    return AssignmentContext(context.members, {**context.partitions, topic: grown})
