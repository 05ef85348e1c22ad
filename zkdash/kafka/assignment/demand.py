"""Who wants to read what: a group's members with their threads, and the partitions to share out."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec

from zkdash.kafka.consumers import ids as consumer_ids

Partitions = Mapping[str, tuple[str, ...]]


class Demand(msgspec.Struct, frozen=True, dict=True):
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
        found: dict[str, list[str]] = {}
        for member, topics in self.members.items():
            ids = {count: consumer_ids.thread_ids(member, count) for count in {*topics.values()}}
            for topic, count in topics.items():
                found.setdefault(topic, []).extend(ids[count])
        return found


class Plan(msgspec.Struct, frozen=True):
    """What a rule makes of a demand.

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


def add_member(demand: Demand, member: str, threads: Mapping[str, int]) -> Demand:
    """The demand with one more member. Where its id is taken, its threads by topic are replaced."""
    return Demand({**demand.members, member: dict(threads)}, demand.partitions)


def remove_member(demand: Demand, member: str) -> Demand:
    """The demand without a member."""
    return Demand(
        {name: topics for name, topics in demand.members.items() if name != member}, demand.partitions
    )


def set_threads(demand: Demand, member: str, count: int, topic: str | None = None) -> Demand:
    """The demand with another number of threads of a member, for one of its topics or for all of them.

    0 threads is a member that does not subscribe. Who is no member stays none.
    """
    topics = dict(demand.members.get(member, {}))
    for name in topics if topic is None else topics.keys() & {topic}:
        topics[name] = count
    if member not in demand.members:
        return demand
    return add_member(demand, member, {name: threads for name, threads in topics.items() if threads > 0})


def grow(demand: Demand, topic: str, count: int) -> Demand:
    """The demand with `count` partitions of a topic, in 0.7 on each of its brokers. Partitions never go."""
    keys = demand.partitions.get(topic, ())
    brokers = {key.partition("-")[0] for key in keys if is_07(key)}
    more = [f"{broker}-{part}" for broker in brokers for part in range(count)] or map(str, range(count))
    grown = tuple(dict.fromkeys((*keys, *more)))
    return Demand(demand.members, {**demand.partitions, topic: grown})
