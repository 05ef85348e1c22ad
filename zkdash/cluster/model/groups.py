"""A ZooKeeper consumer group as its znodes together tell it, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.kafka.values import Registration, Unparsable
from zkdash.znode import Unreadable, Znode


class Member(msgspec.Struct, frozen=True):
    """/consumers/G/ids/<id>."""

    id: str
    registration: Registration | Unparsable | Unreadable
    znode: Znode | None


class Owner(msgspec.Struct, frozen=True, gc=False):
    """/consumers/G/owners/T/<partition>: the consumer thread id that claims it."""

    thread: str | Unparsable | Unreadable
    znode: Znode | None


class Offset(msgspec.Struct, frozen=True, gc=False):
    """/consumers/G/offsets/T/<partition>: a message offset, or a byte position in 0.7."""

    value: int | Unparsable | Unreadable
    znode: Znode | None


class Group(msgspec.Struct, frozen=True):
    """One group. Owners and offsets by topic, then by partition key ("0", or 0.7's "broker-part").

    `exists` tells whether /consumers/G was seen: a group may be empty (D45). `bad_offsets` counts the offsets
    that no consumer could go on from (D47).
    """

    name: str
    members: Mapping[str, Member] = {}
    owners: Mapping[str, Mapping[str, Owner]] = {}
    offsets: Mapping[str, Mapping[str, Offset]] = {}
    exists: bool = False
    bad_offsets: int = 0


class GroupSummary(msgspec.Struct, frozen=True):
    """A group's numbers.

    `topics` are those that it has owners or offsets on, or subscribes to by name. `subscribed` are those
    that its members subscribe to by name. `unowned` counts the partitions of subscribed topics that have
    no owner (D40), of `expected` in all; `owned` counts owner znodes. `patterns` counts the members that
    subscribe by a pattern: what they should own is in neither number. `unregistered` counts the owners that
    are no member's threads (D39), `unparsable` the registrations and owners that cannot be understood,
    `unreadable` those that may not be read, `bad_offsets` is the group's. `stored` tells whether any offset
    is in ZooKeeper. `rebalanced` is when the newest owner claimed its partition, in epoch milliseconds, 0
    where there is none. `severity` and `words` are the status.
    """

    name: str
    members: int
    topics: frozenset[str]
    subscribed: frozenset[str]
    owned: int
    expected: int
    unowned: int
    patterns: int = 0
    unregistered: int = 0
    unparsable: int = 0
    unreadable: int = 0
    bad_offsets: int = 0
    stored: bool = False
    rebalanced: int = 0
    severity: Severity = Severity.OK
    words: str = "ok"

    @property
    def troubled(self) -> int:
        """How many partitions have no owner."""
        return self.unowned

    @property
    def known_expected(self) -> int | None:
        """How many partitions it should own in all; None where that takes resolving a pattern."""
        return None if self.patterns else self.expected

    @property
    def known_unowned(self) -> int | None:
        """How many of them have no owner; with patterns at least those that are subscribed to by name.

        None where members subscribe by a pattern and nothing that has a name lacks an owner.
        """
        return None if self.patterns and not self.unowned else self.unowned


def is_bad(offset: Offset) -> bool:
    """Whether no consumer can resume from it (D47): not a number, or negative. A refused one may do."""
    return isinstance(offset.value, Unparsable) or (isinstance(offset.value, int) and offset.value < 0)
