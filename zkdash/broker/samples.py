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

    `sampled_at` is the epoch second of the leader's answer. `before` and `before_at` are the end and the time
    of the answer before, None where there was none.
    """

    start: int
    end: int
    sampled_at: float
    before: int | None = None
    before_at: float | None = None

    def end_at(self, moment: float) -> int:
        """Where the log ended at an epoch second: as if it had grown evenly between the two answers.

        Where the moment is later than both, or earlier, the end of the nearer.
        """
        if moment >= self.sampled_at or self.before is None or self.before_at is None:
            return self.end
        if moment <= self.before_at:
            return self.before
        part = (moment - self.before_at) / (self.sampled_at - self.before_at)
        return self.before + round((self.end - self.before) * part)


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
    """Why a group's commits to Kafka are not known now, and what the last answer was (None for none).

    `passes` says that the reason ends by itself, soon: the coordinator loads them, or is another by now.
    """

    reason: str
    last: GroupCommits | None = None
    passes: bool = False


class Listing(msgspec.Struct, frozen=True):
    """The groups that a broker coordinates, as of the epoch second `sampled_at`.

    `reason` tells why it could not be asked last; `groups` are then those of the answer before, and None
    where there never was one.
    """

    groups: frozenset[str] | None
    sampled_at: float | None
    reason: str | None = None


class GroupMember(msgspec.Struct, frozen=True):
    """A member of a group that keeps itself in Kafka, with the partitions that it was assigned, by topic.

    `assigned` is None where what its leader wrote is not a consumer's assignment (Kafka Connect's, say).
    """

    id: str
    client: str
    host: str
    assigned: Mapping[str, tuple[int, ...]] | None


class Description(msgspec.Struct, frozen=True):
    """What the coordinator tells of a group as of the epoch second `sampled_at`.

    `state` is Kafka's word ("Stable", "Empty", "PreparingRebalance"), `protocol_type` "consumer" for
    consumers, `protocol` how partitions are assigned ("range"); either is "" where there are no members.
    `emptied` tells of one in the state "Empty" when it was seen last in another (None for never) and first
    in this one: between those epoch seconds it lost its last member.
    """

    coordinator: int
    state: str
    protocol_type: str
    protocol: str
    members: tuple[GroupMember, ...]
    sampled_at: float
    emptied: tuple[float | None, float] | None = None


class UnknownDescription(msgspec.Struct, frozen=True):
    """Why a group cannot be described now, and what the last answer was (None for none)."""

    reason: str
    last: Description | None = None


def described_after(
    before: Description | UnknownDescription | None, description: Description | str
) -> Description | UnknownDescription:
    """What is known of a group after its coordinator told, or did not, for a reason."""
    if not isinstance(description, str):
        return _emptied(before.last if isinstance(before, UnknownDescription) else before, description)
    return UnknownDescription(description, before.last if isinstance(before, UnknownDescription) else before)


def _emptied(before: Description | None, description: Description) -> Description:
    """A description that knows since when its group has no members, if it has none."""
    if description.state != "Empty":
        return description
    if before is not None and before.emptied is not None:
        return msgspec.structs.replace(description, emptied=before.emptied)
    last = None if before is None else before.sampled_at
    return msgspec.structs.replace(description, emptied=(last, description.sampled_at))


def descriptions_differ(
    before: Description | UnknownDescription | None, after: Description | UnknownDescription
) -> bool:
    """Whether anything but the age of a description is another."""
    if isinstance(before, Description) and isinstance(after, Description):
        return msgspec.structs.replace(before, sampled_at=after.sampled_at) != after
    return before != after


class Retention(msgspec.Struct, frozen=True):
    """For how many `minutes` offsets are kept, None where that cannot be told, for `reason`.

    `by_group` says from when they count: True from when the group lost its last member, False from each
    commit, None where the broker's release cannot be told. `is_default` is whether nobody set it, None where
    the broker did not say so itself and `minutes` is what its release has unless it is set.
    """

    minutes: int | None
    by_group: bool | None
    is_default: bool | None = None
    reason: str = ""


class Samples(msgspec.Struct, frozen=True):
    """Everything sampled of one cluster; `listings` and `troubles` are by broker id.

    `troubles` tells why a broker cannot be asked now. `descriptions` are by group. `retentions` tell how long
    those brokers keep offsets that were asked.
    """

    ends: immutables.Map[str, Mapping[int, LogEnds | Unknown]] = immutables.Map()
    commits: immutables.Map[str, GroupCommits | UnknownCommits] = immutables.Map()
    listings: immutables.Map[int, Listing] = immutables.Map()
    troubles: immutables.Map[int, str] = immutables.Map()
    descriptions: immutables.Map[str, Description | UnknownDescription] = immutables.Map()
    retentions: immutables.Map[int, Retention] = immutables.Map()
    otherwise: str = NOT_YET

    def log(self, topic: str, partition: int) -> LogEnds | Unknown:
        """The log ends of a partition."""
        reading = self.ends.get(topic, {}).get(partition)
        return Unknown(self.otherwise) if reading is None else reading

    def committed(self, group: str) -> GroupCommits | UnknownCommits:
        """What a group committed to Kafka."""
        commits = self.commits.get(group)
        return UnknownCommits(self.otherwise) if commits is None else commits

    def described(self, group: str) -> Description | UnknownDescription:
        """What a group's coordinator tells of it."""
        description = self.descriptions.get(group)
        return UnknownDescription(self.otherwise) if description is None else description

    def groups(self) -> frozenset[str]:
        """All groups that any broker is known to coordinate, of old and of new consumers."""
        return frozenset().union(*(listing.groups or () for listing in self.listings.values()))

    def lag(self, topic: str, partition: int, offset: int) -> int | Unknown:
        """Messages between an offset and the log's end: negative where the offset lies beyond it."""
        end = self.log(topic, partition)
        return end if isinstance(end, Unknown) else end.end - offset
