"""What the checks have against a group of ZooKeeper consumers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from zkdash.cluster.evaluation.details import gathered
from zkdash.cluster.model import group_summary
from zkdash.cluster.model.group_summary import Lookup
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.model.violations import Violation
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment

CHECKS = ("D39", "D43", "D44", "D45", "D47")


def judge(group: Group | None, topics: Lookup) -> Mapping[str, Violation]:
    """The checks that a group fails; `topics` finds any of the cluster's. None is no group at all."""
    if group is None:
        return {}
    found = gathered(sorted([*_strangers(group), *_lost(group, topics)]))  # the same however it came about
    if group.bad_offsets:
        found["D47"] = Violation(group.bad_offsets)
    if not group.members:
        if group.offsets:
            found["D44"] = Violation(since=_last_commit(group))
        elif not group.owners:
            found["D45"] = Violation()
    return found


def _strangers(group: Group) -> Iterator[tuple[str, str]]:
    for topic, owners in group.owners.items():
        for part, owner in owners.items():
            if group_summary.is_unregistered(group, owner):
                yield "D39", f"{topic} {part}: {owner.thread}"


def _lost(group: Group, topics: Lookup) -> Iterator[tuple[str, str]]:
    """Owners and offsets of partitions that are not there."""
    for name in {**group.owners, **group.offsets}:
        topic = topics.get(name)
        parts = {**group.owners.get(name, {}), **group.offsets.get(name, {})}
        if topic is None:
            yield "D43", f"{name} is not there"
            continue
        wrong = [part for part in parts if not _is_there(topic, part)]
        if wrong:
            yield "D43", f"{name}: {', '.join(sorted(wrong)[:_MOST_PARTS])}"


_MOST_PARTS = 5


def _is_there(topic: Topic, part: str) -> bool:
    """Whether a topic has a partition, "0" or 0.7's "broker-0"; one whose size is not known may have any."""
    broker, hyphen, number = part.partition("-")
    if not hyphen:
        held = topic.assignment
        return not isinstance(held, Assignment) or (paths.is_id(part) and int(part) in held.partitions)
    if not (paths.is_id(broker) and paths.is_id(number)):
        return False
    counts = [count.count for count in topic.counts if count.broker == int(broker)]
    # A broker of 0.7 that is down takes its partitions along: they come back with it.
    return not counts or not isinstance(counts[0], int) or int(number) < counts[0]


def _last_commit(group: Group) -> float | None:
    """When the group committed last, in epoch seconds, None where no offset is readable."""
    times = [one.znode.mtime for parts in group.offsets.values() for one in parts.values() if one.znode]
    return max(times) / 1000 if times else None
