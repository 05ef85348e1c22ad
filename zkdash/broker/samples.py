"""What brokers said, and when: frozen values that pages read.

Unknown is a value with its reason, never a zero; what was known before is kept beside the reason.
"""

from __future__ import annotations

from collections.abc import Mapping

import immutables
import msgspec

NOT_YET = "not sampled yet"


class LogEnds(msgspec.Struct, frozen=True, gc=False):
    """A partition's log: first offset kept, and the offset that the next message gets (high watermark).

    `sampled_at` is the epoch second of the leader's answer.
    """

    start: int
    end: int
    sampled_at: float


class Unknown(msgspec.Struct, frozen=True, gc=False):
    """Why a partition's log ends are not known now, and what the last answer was (None for none)."""

    reason: str
    last: LogEnds | None = None


class Commit(msgspec.Struct, frozen=True, gc=False):
    """An offset that a group committed to Kafka, with the metadata that its consumer added."""

    offset: int
    metadata: str


class GroupCommits(msgspec.Struct, frozen=True):
    """What a group committed to Kafka, as its coordinator (a broker id) tells; nothing, and no coordinator
    (None), where ZooKeeper tells that there is no topic to keep commits in.

    A (topic, partition) that `commits` lacks has no commit; `refused` holds those that the coordinator
    would not tell, with its reason. `whole` is False where only the topics that were named could be asked
    about (brokers before 0.10.2). `sampled_at` is the epoch second of the answer.
    """

    coordinator: int | None
    commits: Mapping[tuple[str, int], Commit]
    sampled_at: float
    refused: Mapping[tuple[str, int], str] = {}
    whole: bool = True


class UnknownCommits(msgspec.Struct, frozen=True):
    """Why a group's commits to Kafka are not known now, and what the last answer was (None for none)."""

    reason: str
    last: GroupCommits | None = None


class Listing(msgspec.Struct, frozen=True):
    """The groups that a broker coordinates, as of the epoch second `sampled_at`.

    `reason` tells why it could not be asked last; `groups` are then those of the answer before, and None
    where there never was one.
    """

    groups: frozenset[str] | None
    sampled_at: float | None
    reason: str | None = None


class Samples(msgspec.Struct, frozen=True):
    """Everything sampled of one cluster; `listings` and `troubles` are by broker id.

    `troubles` tells why a broker cannot be asked now.
    """

    ends: immutables.Map[str, Mapping[int, LogEnds | Unknown]] = immutables.Map()
    commits: immutables.Map[str, GroupCommits | UnknownCommits] = immutables.Map()
    listings: immutables.Map[int, Listing] = immutables.Map()
    troubles: immutables.Map[int, str] = immutables.Map()
    otherwise: str = NOT_YET

    def log(self, topic: str, partition: int) -> LogEnds | Unknown:
        """The log ends of a partition."""
        found = self.ends.get(topic, {}).get(partition)
        return Unknown(self.otherwise) if found is None else found

    def committed(self, group: str) -> GroupCommits | UnknownCommits:
        """What a group committed to Kafka."""
        found = self.commits.get(group)
        return UnknownCommits(self.otherwise) if found is None else found

    def groups(self) -> frozenset[str]:
        """All groups that any broker is known to coordinate, of old and of new consumers."""
        return frozenset().union(*(listing.groups or () for listing in self.listings.values()))

    def lag(self, topic: str, partition: int, offset: int) -> int | Unknown:
        """Messages between an offset and the log's end: negative where the offset lies beyond it."""
        found = self.log(topic, partition)
        return found if isinstance(found, Unknown) else found.end - offset
