"""What brokers told about the partitions of a group, beside what ZooKeeper holds: log ends, commits, lag."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from zkdash.broker.samples import GroupCommits, LogEnds, Samples, UnknownCommits
from zkdash.cluster.analysis import position as places
from zkdash.cluster.analysis.position import Position, Positions, Told, Unknown
from zkdash.cluster.model.groups import Group
from zkdash.kafka import paths


def of_group(samples: Samples, group: str) -> Positions:
    """The positions of a group, by topic and partition key."""
    commits = samples.committed(group)

    def position(topic: str, key: str) -> Position:
        if not paths.is_id(key):
            return Position(Unknown("offsets of 0.7 are positions in bytes"), None)
        ends = samples.log(topic, int(key))
        log_end = ends.end if isinstance(ends, LogEnds) else Unknown(ends.reason)
        return Position(
            log_end,
            committed(commits, topic, int(key)),
            ends.sampled_at if isinstance(ends, LogEnds) else None,
            commits.sampled_at if isinstance(commits, GroupCommits) else None,
        )

    return position


def committed(commits: GroupCommits | UnknownCommits, topic: str, partition: int) -> Told | None:
    """What a group's coordinator says of one partition; None where nothing was committed."""
    if isinstance(commits, UnknownCommits):
        return Unknown(commits.reason)
    place = topic, partition
    if place in commits.refused:
        return Unknown(commits.refused[place])
    commit = commits.commits.get(place)
    if commit is None and not commits.whole:
        return Unknown("the coordinator was not asked about this topic")
    return None if commit is None else commit.offset


def kept(samples: Samples, group: str) -> Collection[tuple[str, int]]:
    """The partitions on which a group has an offset in Kafka, as far as its coordinator told."""
    commits = samples.committed(group)
    return commits.commits.keys() if isinstance(commits, GroupCommits) else ()


def is_kept_in_kafka(samples: Samples, group: str) -> bool:
    """Whether the brokers know a group: one that ZooKeeper does not hold is theirs alone."""
    return any(group in (listing.groups or ()) for listing in samples.listings.values())


def lag(samples: Samples, group: Group, topics: Iterable[str]) -> Told | None:
    """What a group has left to read of topics in all, from the furthest offset of each partition.

    Unknown where it is so of any partition, or of all that was committed; None where nothing was.
    """
    positions = of_group(samples, group.name)
    commits = samples.committed(group.name)
    in_kafka = kept(samples, group.name)
    total: int | None = None
    for topic in topics:
        offsets = group.offsets.get(topic, {})
        keys = {*offsets, *(str(number) for name, number in in_kafka if name == topic)}
        for key in keys:
            offset = offsets.get(key)
            found = places.lag(
                positions(topic, key),
                None if offset is None else offset.value,
                None if offset is None or offset.znode is None else offset.znode.mtime,
            )
            if isinstance(found, Unknown):
                return found
            total = (total or 0) + (found or 0)
    if total is None and isinstance(commits, UnknownCommits):
        return Unknown(commits.reason)
    return total
