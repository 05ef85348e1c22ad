"""Whose log directories there are, and which segments lie in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from zkdash.configuration.log_dirs import LogDirs
from zkdash.pipeline.sources import segments
from zkdash.pipeline.sources.segments import OLDEST, Log, LogDirectory, Segment

MOST_SEGMENTS: Final = 200_000  # of a cluster that are listed


class Disk(NamedTuple):
    """A log directory and its broker, None for one whose id nobody tells."""

    broker: int | None
    path: str


class Replica(NamedTuple):
    """A log on a disk, and what its broker noted of it: None where it noted nothing."""

    disk: Disk
    log: Log
    start: int
    high_watermark: int | None
    recovery_point: int | None
    cleaned: int

    @property
    def topic(self) -> str:
        return self.log.segments[0].topic

    @property
    def partition(self) -> int:
        return self.log.segments[0].partition

    @property
    def is_oldest(self) -> bool:
        """Whether it is of 0.7, where the same number on another broker is another partition."""
        return self.log.segments[-1].kind == OLDEST


class Listing(NamedTuple):
    """The replicas, and how many segments there are beyond those that are listed."""

    replicas: tuple[Replica, ...]
    beyond: int


def disks(brokers: Iterable[LogDirs]) -> list[Disk]:
    """The configured directories. Raises OSError, and ValueError for one that is another broker's."""
    return [_disk(each.broker, path) for each in brokers for path in each.directories]


def listing(of: Iterable[Disk], *, most: int = MOST_SEGMENTS) -> Listing:
    """What lies there: whole logs, as long as they are not too many. Raises OSError, ValueError."""
    replicas: list[Replica] = []
    count = beyond = 0
    for replica in itertools.chain.from_iterable(map(_replicas, of)):
        count += len(replica.log.segments)
        if count > most:
            beyond += len(replica.log.segments)
        else:
            replicas.append(replica)
    return Listing(tuple(replicas), beyond)


def segment_key(disk: Disk, segment: Segment) -> tuple[object, ...]:
    """What tells a segment from another, and from what it was before it was written to."""
    place = disk.path, segment.topic, segment.partition, segment.base_offset
    return (*place, segment.size, segment.changed_ms)


def _disk(broker: int | None, path: str) -> Disk:
    named = LogDirectory(path).broker()
    if broker is not None and named not in (None, broker):
        raise ValueError(
            f"{path} is named as broker {broker}'s, and its meta.properties says {named}: correct segments"
        )
    return Disk(named if broker is None else broker, path)


def _replicas(disk: Disk) -> Iterator[Replica]:
    directory = LogDirectory(disk.path)
    starts, watermarks, points, cleaned = map(
        directory.checkpoint,
        (segments.START_OFFSETS, segments.HIGH_WATERMARKS, segments.RECOVERY_POINTS, segments.CLEANED),
    )
    for log in directory.logs():
        whose = log.segments[0].topic, log.segments[0].partition
        start = max(starts.get(whose, 0), log.segments[0].base_offset)
        yield Replica(disk, log, start, watermarks.get(whose), points.get(whose), cleaned.get(whose, 0))
