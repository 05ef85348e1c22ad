"""What brokers add to the partitions of a group in ZooKeeper: log ends, commits kept in Kafka, lag."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from zkdash.broker.samples import GroupCommits, LogEnds, Samples, UnknownCommits
from zkdash.broker.samples import Unknown as NoEnds
from zkdash.cluster.analysis import position as places
from zkdash.cluster.analysis.position import Position, Positions, Told, Unknown
from zkdash.cluster.model.brokers.out_of_range import OutOfRange
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.known import Known
from zkdash.kafka import paths


def of_group(samples: Samples, group: str) -> Positions:
    """The positions of a group, by topic and partition key."""
    commits = samples.committed(group)
    told_at = commits.sampled_at if isinstance(commits, GroupCommits) else None

    def position(topic: str, key: str, offset: Known[int]) -> Position:
        if not paths.is_id(key):
            return Position(Unknown("offsets of 0.7 are positions in bytes"), None)
        number = int(key)
        return of_partition(samples.log(topic, number), offset, committed(commits, topic, number), told_at)

    return position


def of_partition(
    ends: LogEnds | NoEnds, offset: Known[int], in_kafka: Told | None, told_at: float | None
) -> Position:
    """A partition's position.

    `offset` is the one in ZooKeeper, `told_at` the epoch second at which the coordinator told `in_kafka`.
    """
    if not isinstance(ends, LogEnds):
        return Position(Unknown(ends.reason), in_kafka, None, told_at)
    if told_at is not None and places.is_kafka_ahead(in_kafka, offset):
        return Position(ends.end_at(told_at), in_kafka, min(told_at, ends.sampled_at), told_at)
    return Position(ends.end, in_kafka, ends.sampled_at, told_at)


# So far the clocks of a server of ZooKeeper, which dates offsets, and of this process may be apart.
CLOCKS_S = 5.0


def outside(
    place: tuple[str, str],
    ends: LogEnds | NoEnds,
    offset: Known[int],
    in_kafka: Told | None,
    at: tuple[float | None, float | None],
) -> OutOfRange | None:
    """The furthest offset of a group on a partition, `place` (topic and key), if it is not in the log.

    `offset` is the one in ZooKeeper; `at` are the epoch seconds at which that was written, and at which the
    coordinator told `in_kafka`. One that is newer than what is known of the log's end may be in it by now.
    """
    if not isinstance(ends, LogEnds):
        return None
    written, told_at = at
    if places.is_kafka_ahead(in_kafka, offset):
        furthest, kept_in, since = in_kafka, "Kafka", told_at
    elif isinstance(offset, int) and offset >= 0:
        furthest, kept_in, since = offset, "ZooKeeper", None if written is None else written + CLOCKS_S
    else:
        return None
    is_behind = furthest > ends.end and since is not None and since <= ends.sampled_at
    if ends.start <= furthest and not is_behind:
        return None
    return OutOfRange(*place, furthest, ends.start, ends.end, kept_in)


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
    """Whether brokers know a group. One that ZooKeeper does not hold is kept in Kafka alone."""
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
            stored = None if offset is None else offset.value
            part_lag = places.lag(
                positions(topic, key, stored),
                stored,
                None if offset is None or offset.znode is None else offset.znode.mtime,
            )
            if isinstance(part_lag, Unknown):
                return part_lag
            total = (total or 0) + (part_lag or 0)
    if total is None and isinstance(commits, UnknownCommits):
        return Unknown(commits.reason)
    return total
