"""A topic as its znodes together tell it, and the numbers that pages and checks take from it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.kafka.values import Assignment, Layout, PartitionState, TopicConfig, Unparsable
from zkdash.znode import Unreadable, Znode


class Partition(msgspec.Struct, frozen=True, gc=False):
    """One partition of a 0.8+ topic.

    `replicas` is None where the assignment does not list it (an orphan state, or no assignment to be
    understood). `state` is None where there is no state znode. `znode` is the state's znode (None where
    there is none to read), for its version, zxids and times.
    """

    id: int
    replicas: tuple[int, ...] | None
    state: PartitionState | Unparsable | Unreadable | None
    znode: Znode | None


class PartitionCount(msgspec.Struct, frozen=True):
    """/brokers/topics/T/B of 0.7: how many partitions broker B holds."""

    broker: int
    count: int | Unparsable | Unreadable
    znode: Znode | None


class Topic(msgspec.Struct, frozen=True):
    """One topic. `partitions` is sorted by id (0.8+); `counts` by broker (0.7).

    `directory` tells whether /brokers/topics/T/partitions exists, which alone makes the layout 0.8+.
    `moving` maps a partition id to its target replicas, from /admin/reassign_partitions or from the
    adding_replicas and removing_replicas of the assignment (2.4+). `changed` is the newest mtime of all these
    znodes in epoch milliseconds, 0 where none is readable.
    """

    name: str
    layout: Layout
    znode: Znode | Unreadable | None
    assignment: Assignment | Unparsable | Unreadable | None
    partitions: tuple[Partition, ...] = ()
    counts: tuple[PartitionCount, ...] = ()
    config: TopicConfig | Unparsable | Unreadable | None = None
    config_znode: Znode | None = None
    deleting: bool = False
    moving: Mapping[int, tuple[int, ...]] = {}
    directory: bool = False
    changed: int = 0

    def partition(self, number: int) -> Partition | None:
        """A partition of 0.8+ by its id, None where there is none."""
        at = index(self.partitions, number)
        part = self.partitions[at] if at < len(self.partitions) else None
        return part if part is not None and part.id == number else None


def index(partitions: Sequence[Partition], number: int) -> int:
    """Where a partition is or would be, by its id from 0: ids nearly always run without gaps."""
    if 0 <= number < len(partitions) and partitions[number].id == number:
        return number
    return bisect_left(partitions, number, key=lambda partition: partition.id)


class TopicSummary(msgspec.Struct, frozen=True, gc=False):
    """A topic's numbers. Counts of partitions; `replication` is (smallest, largest) list length.

    `offline`: leader -1 (D1). `leader_dead`: leader >= 0 and not registered (D2). `under_replicated`:
    ISR smaller than the assigned replicas, the original ones while moving (D8). `preferred`: led by the
    first replica, of `preferable` partitions that are assigned, not moving and have a leader. `stateless`:
    assigned without state (D3 without its age). `unparsable` and `unreadable`: partitions whose state
    (0.7: whose count) does not parse or may not be read. `orphans`: not assigned any more, which count
    nowhere else (D4). `brokers` are those that lead or hold a replica.
    `partitions` is None where the assignment is not to be had. `overrides` is None where the config is
    not to be had, 0 where there is none. `changed` is the topic's. `severity` and `words` are the status.
    """

    name: str
    partitions: int | None
    replication: tuple[int, int] | None
    under_replicated: int
    offline: int
    leader_dead: int
    stateless: int
    unparsable: int
    preferred: int
    preferable: int
    overrides: int | None
    changed: int
    leaders: frozenset[int]
    brokers: frozenset[int] = frozenset()
    orphans: int = 0
    unreadable: int = 0
    moving: int = 0
    deleting: bool = False
    layout: Layout = Layout.NONE
    severity: Severity = Severity.OK
    words: str = "ok"

    @property
    def troubled(self) -> int:
        """How many partitions make it as bad as its status says: without a leader, else out of sync."""
        if self.severity is Severity.CRITICAL:
            return self.offline + self.leader_dead + self.stateless
        return self.under_replicated
