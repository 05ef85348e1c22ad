"""Gathers what brokers said into `Samples`, one pointer that readers hold, and remembers what moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import immutables
import msgspec

from zkdash.broker.peer import Reading
from zkdash.broker.questions import Partition, Told
from zkdash.broker.samples import GroupCommits, Listing, LogEnds, Samples, Unknown, UnknownCommits

T = TypeVar("T")


class Moved(msgspec.Struct, frozen=True):
    """Topics, groups and brokers of which something else is known than before, a reason counted in.

    A sample that was only confirmed is newer, and not named here.
    """

    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    brokers: frozenset[int] = frozenset()


class Ledger:
    """The samples of one cluster; written on the sampler's loop only, read by anybody."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self.samples = Samples()
        self._wall = wall
        self._topics: set[str] = set()
        self._groups: set[str] = set()
        self._brokers: set[int] = set()

    def moved(self) -> Moved | None:
        """What moved since the last call; None for nothing."""
        if not (self._topics or self._groups or self._brokers):
            return None
        told = Moved(frozenset(self._topics), frozenset(self._groups), frozenset(self._brokers))
        self._topics, self._groups, self._brokers = set(), set(), set()
        return told

    def ends(self, broker: int, found: Mapping[Partition, Reading]) -> None:
        """Take in what one broker said of partitions."""
        now = self._wall()
        topics: dict[str, dict[int, LogEnds | Unknown]] = {}
        for (topic, partition), reading in found.items():
            if topic not in topics:
                topics[topic] = dict(self.samples.ends.get(topic, {}))
            before = topics[topic].get(partition)
            after = _ends(before, _told(broker, reading), now)
            topics[topic][partition] = after
            if _differs(before, after):
                self._topics.add(topic)
        self._publish(ends=self.samples.ends.update(topics))

    def unknown(self, topic: str, reasons: Mapping[int, str]) -> None:
        """Partitions of a topic that nobody can be asked about."""
        held = self.samples.ends.get(topic, {})
        after = {n: _ends(held.get(n), reason, 0.0) for n, reason in reasons.items()}
        if any(_differs(held.get(n), value) for n, value in after.items()):
            self._topics.add(topic)
            self._publish(ends=self.samples.ends.set(topic, {**held, **after}))

    def keep_partitions(self, topic: str, partitions: Mapping[int, object]) -> None:
        """Drop the samples of partitions that a topic no longer has."""
        held = self.samples.ends.get(topic, {})
        if held.keys() - partitions.keys():
            kept = {n: value for n, value in held.items() if n in partitions}
            self._publish(ends=self.samples.ends.set(topic, kept))

    def commits(self, broker: int, group: str, told: Told | str, *, whole: bool) -> None:
        """Take in what a group's coordinator said."""
        if isinstance(told, str):
            self.unknown_commits(group, told)
        else:
            self._commits(group, GroupCommits(broker, told.commits, self._wall(), told.refused, whole))

    def no_commits(self, group: str) -> None:
        """A group of a cluster that has no topic to keep commits in: that is known, and nobody is asked."""
        self._commits(group, GroupCommits(None, {}, self._wall()))

    def unknown_commits(self, group: str, reason: str) -> None:
        """A group that nobody told anything about."""
        before = self.samples.commits.get(group)
        last = before.last if isinstance(before, UnknownCommits) else before
        self._commits(group, UnknownCommits(reason, last))

    def _commits(self, group: str, after: GroupCommits | UnknownCommits) -> None:
        if _commits_differ(self.samples.commits.get(group), after):
            self._groups.add(group)
        self._publish(commits=self.samples.commits.set(group, after))

    def listing(self, broker: int, groups: frozenset[str] | str) -> None:
        """Take in which groups a broker coordinates."""
        before = self.samples.listings.get(broker, Listing(None, None))
        if isinstance(groups, str):
            after = Listing(before.groups, before.sampled_at, groups)
        else:
            after = Listing(groups, self._wall())
        if (before.groups, before.reason) != (after.groups, after.reason):
            self._brokers.add(broker)
        self._publish(listings=self.samples.listings.set(broker, after))

    def part(self, broker: int) -> None:
        """Forget what is known of a broker itself."""
        self.trouble(broker, None)
        if broker in self.samples.listings:
            self._brokers.add(broker)
            self._publish(listings=self.samples.listings.delete(broker))

    def trouble(self, broker: int, reason: str | None) -> None:
        """Remember why a broker cannot be asked; None where it answers."""
        held = self.samples.troubles
        if held.get(broker) == reason:
            return
        self._brokers.add(broker)
        self._publish(troubles=held.delete(broker) if reason is None else held.set(broker, reason))

    def drop(self, *, topics: Iterable[str] = (), groups: Iterable[str] = ()) -> None:
        """Forget samples that nobody needs."""
        self._publish(
            ends=_without(self.samples.ends, topics), commits=_without(self.samples.commits, groups)
        )

    def _publish(self, **fields: object) -> None:
        self.samples = msgspec.structs.replace(self.samples, **fields)


def _told(broker: int, reading: Reading) -> Reading:
    """A broker's own words on one partition name the broker; why it can't be asked does already."""
    if isinstance(reading, str) and not reading.startswith("cannot ask"):
        return f"broker {broker}: {reading}"
    return reading


def _ends(before: LogEnds | Unknown | None, reading: Reading, now: float) -> LogEnds | Unknown:
    if not isinstance(reading, str):
        return LogEnds(*reading, now)
    if isinstance(before, Unknown):
        return before if before.reason == reading else Unknown(reading, before.last)
    return Unknown(reading, before)


def _differs(before: LogEnds | Unknown | None, after: LogEnds | Unknown) -> bool:
    if isinstance(before, LogEnds) and isinstance(after, LogEnds):
        return (before.start, before.end) != (after.start, after.end)
    return before != after


def _commits_differ(
    before: GroupCommits | UnknownCommits | None, after: GroupCommits | UnknownCommits
) -> bool:
    if isinstance(before, GroupCommits) and isinstance(after, GroupCommits):
        return msgspec.structs.replace(before, sampled_at=after.sampled_at) != after
    if isinstance(before, UnknownCommits) and isinstance(after, UnknownCommits):
        return before.reason != after.reason
    return True


def _without(held: immutables.Map[str, T], names: Iterable[str]) -> immutables.Map[str, T]:
    kept = held.mutate()
    for name in names:
        kept.pop(name, None)
    return kept.finish()
