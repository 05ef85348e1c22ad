"""The life of a consumer group of the ZooKeeper kind, step by step, told of one group's own znodes.

Steps as documents 000 to 003 have them ("Consumer registration algorithm", "Consumer rebalancing algorithm"),
and as the code does them where it does otherwise (kafka.consumer.ZookeeperConsumerConnector, 0.7 to 1.1).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

import msgspec

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.rebalance.values import Expectation, Verdict
from zkdash.cluster.tables.groups import partitions as group_partitions
from zkdash.kafka import paths
from zkdash.kafka.values import Pattern, Registration, Unparsable
from zkdash.web.frame.cells import grouped
from zkdash.znode import Unreadable, Znode

T = TypeVar("T")

MOST = 12  # of each step that are shown: it is an example, and the group's own page has all
_MOST_TOPICS = 3


class Line(NamedTuple):
    """A znode of a step: `holds` is what of it counts here, `znode` None where it could not be read."""

    step: str
    path: str
    holds: str
    znode: Znode | None


class Watch(NamedTuple):
    """A watch that each consumer of the group sets: on `of` a path ("children", "data"), and what it is for.

    `of` is "none" of a path that the documents name and the code does not watch. `is_there` says whether the
    znode is known to be.
    """

    path: str
    of: str
    why: str
    now: str
    is_there: bool


class Sentence(msgspec.Struct, frozen=True):
    """How far a step is, in words."""

    severity: Severity
    text: str


def registered(group: Group) -> list[Line]:
    """The znodes by which the members are known."""
    return [
        Line("register", paths.member(group.name, name), _subscription(member.registration), member.znode)
        for name, member in itertools.islice(sorted(group.members.items()), MOST)
    ]


def watched(state: ClusterState, group: Group, expected: Expectation) -> list[Watch]:
    """The watches that each member sets, by what the group is subscribed to."""
    is_07 = expected.inputs.is_07
    members = _count(len(group.members), "member")
    ids = f"{paths.group(group.name)}/ids"
    watches = [Watch(ids, "children", "members that join and leave", members, bool(group.members))]
    wildcards = any(_is_wildcard(member.registration) for member in group.members.values())
    if wildcards:
        watches.append(
            Watch(
                "/brokers/topics",
                "children",
                "new topics that its filter may allow",
                _count(len(state.topics), "topic"),
                bool(state.topics),
            )
        )
    for topic, keys in itertools.islice(sorted(expected.inputs.demand.partitions.items()), MOST):
        why = "brokers of the topic that come and go" if is_07 else "partitions that are added"
        of, now = "children" if is_07 else "data", _count(len(keys), "partition")
        watches.append(Watch(paths.topic(topic), of, why, now, topic in state.topics))
    brokers = _count(len(state.brokers), "broker")
    watches.append(Watch("/brokers/ids", "none", "see below", brokers, bool(state.brokers)))
    return watches


def divided(expected: Expectation) -> tuple[str, ...]:
    """How many partitions the range rule gives the threads of each topic, as a division; the first topics."""
    demand = expected.inputs.demand
    if expected.against.is_round_robin or not expected.plans:
        return ()
    topics = sorted((topic, keys) for topic, keys in demand.partitions.items() if demand.threads.get(topic))
    return tuple(
        _division(topic, len(keys), len(demand.threads[topic]))
        for topic, keys in itertools.islice(topics, _MOST_TOPICS)
    )


def _division(topic: str, partitions: int, threads: int) -> str:
    each, over = divmod(partitions, threads)
    what = f"{topic}: {_count(partitions, 'partition')} for {_count(threads, 'thread')}"
    if not each:
        return f"{what}: the first {over} get 1, the others none."
    more = f", and the first {over} of them 1 more" if over else ""
    return f"{what}: each thread gets {each}{more}."


def claimed(group: Group) -> list[Line]:
    """The znodes by which threads own partitions."""
    owners = (
        Line("claim", paths.owner(group.name, topic, key), _text(owner.thread), owner.znode)
        for topic, key, owner in _ordered(group.owners)
    )
    return list(itertools.islice(owners, MOST))


def committed(group: Group) -> list[Line]:
    """The znodes that hold how far the group has read."""
    offsets = (
        Line("commit", paths.offset(group.name, topic, key), _text(offset.value), offset.znode)
        for topic, key, offset in _ordered(group.offsets)
    )
    return list(itertools.islice(offsets, MOST))


def state_of_registering(group: Group) -> Sentence:
    """Whether anybody is registered."""
    if not group.members:
        return Sentence(Severity.INFO, "No member is registered: nobody reads for this group now.")
    count = _count(len(group.members), "member")
    return Sentence(
        Severity.OK, f"{count} {'is' if len(group.members) == 1 else 'are'} registered in this group."
    )


def state_of_computing(expected: Expectation) -> Sentence:
    """Which rule the owners follow."""
    if expected.inputs.blocked or expected.inputs.unclear:
        why = (*expected.inputs.blocked, *expected.inputs.unclear)[0]
        return Sentence(Severity.UNKNOWN, f"What the group asks for cannot be told: {why}.")
    if not expected.inputs.demand.members:
        return Sentence(Severity.INFO, "Nobody subscribes to anything: there is nothing to divide.")
    if expected.rule is None and not any(part.verdict in _ELSEWHERE for part in expected.parts):
        return Sentence(Severity.OK, f"The owners that are there follow {_rule(expected)}.")
    if expected.rule is None:
        return Sentence(
            Severity.INFO, f"Compared with {_rule(expected)}: the owners follow no rule as a whole."
        )
    return Sentence(Severity.OK, f"The owners follow {_rule(expected)}.")


_ELSEWHERE = frozenset({Verdict.OTHER_MEMBER, Verdict.NOT_REGISTERED, Verdict.STRAY})


def _rule(expected: Expectation) -> str:
    return f"{expected.against.title} ({expected.against.releases})"


def state_of_claiming(expected: Expectation, *, settled: bool) -> Sentence:
    """Whether every partition that is subscribed to has its owner."""
    if not settled:
        return Sentence(Severity.INFO, "Members or owners have just moved: the group rebalances.")
    wanted = [part for part in expected.parts if part.verdict is not Verdict.STRAY]
    unowned = sum(part.verdict is Verdict.UNOWNED for part in wanted)
    if unowned:
        verb = "has" if unowned == 1 else "have"
        return Sentence(
            Severity.CRITICAL, f"{_count(unowned, 'partition')} {verb} no owner: nobody reads there."
        )
    if not wanted:
        return Sentence(Severity.INFO, "No partition is asked for.")
    return Sentence(Severity.OK, f"Each of {_count(len(wanted), 'partition')} has its owner.")


def state_of_committing(group: Group, *, is_in_kafka: bool) -> Sentence:
    """Where the group's offsets are; `is_in_kafka` as its coordinator told."""
    count = sum(map(len, group.offsets.values()))
    if count:
        return Sentence(Severity.OK, f"{_count(count, 'offset')} in ZooKeeper.")
    if is_in_kafka:
        return Sentence(Severity.INFO, "None in ZooKeeper: it keeps them in Kafka (offsets.storage=kafka).")
    return Sentence(Severity.INFO, "None in ZooKeeper: nothing was committed, or it is kept in Kafka.")


def chosen(state: ClusterState) -> str | None:
    """A group to show where none is asked for: the first by name that has members and owners, better without
    a filter, else members, else anything. Of very many groups only some are looked at."""
    some = itertools.islice(state.group_summaries.values(), _MOST_LOOKED_AT)
    ranked = (
        (not (group.members and group.owned), not group.members, group.patterns > 0, group.name)
        for group in some
    )
    best = min(ranked, default=None)
    return None if best is None else best[-1]


_MOST_LOOKED_AT = 2_000


def _ordered(by_topic: Mapping[str, Mapping[str, T]]) -> Iterator[tuple[str, str, T]]:
    """What is below topics and partitions, in the order in which people count."""
    for topic in sorted(by_topic):
        for key in sorted(by_topic[topic], key=lambda part: (group_partitions.order(part), part)):
            yield topic, key, by_topic[topic][key]


def _is_wildcard(registration: Registration | Unparsable | Unreadable) -> bool:
    return isinstance(registration, Registration) and registration.pattern is not Pattern.STATIC


def _subscription(registration: Registration | Unparsable | Unreadable) -> str:
    """Its topics with their threads, or its filter."""
    if not isinstance(registration, Registration):
        return _text(registration)
    named = [
        f"{name}: {_count(count, 'thread')}" for name, count in sorted(registration.subscription.items())
    ]
    shown = "; ".join(named[:_MOST_TOPICS]) or "nothing"
    more = f" and {len(named) - _MOST_TOPICS} more" if len(named) > _MOST_TOPICS else ""
    kind = "" if registration.pattern is Pattern.STATIC else f"{registration.pattern.value} "
    return f"{kind}{shown}{more}"


def _text(value: object) -> str:
    """A value as text; of one that is none, why."""
    if isinstance(value, Unparsable | Unreadable):
        return f"not to be read: {value.reason}"
    return str(value)


def _count(number: int, noun: str) -> str:
    return f"{grouped(number)} {noun}{'' if number == 1 else 's'}"
