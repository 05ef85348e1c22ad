"""Gathers what brokers said into `Samples`, one pointer that readers hold, and remembers what moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

import immutables
import msgspec

from zkdash.broker.peer import Reading
from zkdash.broker.questions import Partition, Passing, Told
from zkdash.broker.samples import (
    Description,
    GroupCommits,
    Listing,
    LogEnds,
    Retention,
    Samples,
    Unknown,
    UnknownCommits,
    UnknownDescription,
    described_after,
    descriptions_differ,
)

T = TypeVar("T")


class Moved(msgspec.Struct, frozen=True):
    """Topics, groups and brokers of which something else is known than before, a reason counted in.

    A sample that was only confirmed is newer, and not named here.
    """

    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    brokers: frozenset[int] = frozenset()


class Sampled(msgspec.Struct, frozen=True):
    """Topics whose log ends, and groups whose commits, were told anew, whether or not anything moved.

    `dropped` are groups of which nothing is known any more.
    """

    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()


class Ledger:
    """The samples of one cluster; written on the sampler's loop only, read by anybody.

    `listed` has the broker that lists a group, `used` the topics that groups have commits of or that
    their members were assigned, with how many groups do so.
    """

    def __init__(self, wall: Callable[[], float]) -> None:
        self.samples = Samples()
        self._wall = wall
        self._topics: set[str] = set()
        self._groups: set[str] = set()
        self._brokers: set[int] = set()
        self._sampled: tuple[set[str], set[str], set[str]] = set(), set(), set()
        self.listed: dict[str, int] = {}
        self.used: Counter[str] = Counter()
        self._topics_of: dict[str, frozenset[str]] = {}
        self._passing: set[str] = set()

    def passing(self) -> set[str]:
        """The groups that were refused since the last call for a reason that passes by itself."""
        passing, self._passing = self._passing, set()
        return passing

    def sampled(self) -> Sampled | None:
        """What was told anew since the last call; None for nothing."""
        if not any(self._sampled):
            return None
        sampled = Sampled(*map(frozenset, self._sampled))
        self._sampled = set(), set(), set()
        return sampled

    def topics_of(self, group: str) -> frozenset[str]:
        """The topics that a group is known to use, as far as brokers told."""
        return self._topics_of.get(group, frozenset())

    def moved(self) -> Moved | None:
        """What moved since the last call; None for nothing."""
        if not (self._topics or self._groups or self._brokers):
            return None
        moved = Moved(frozenset(self._topics), frozenset(self._groups), frozenset(self._brokers))
        self._topics, self._groups, self._brokers = set(), set(), set()
        return moved

    def ends(self, broker: int, readings: Mapping[Partition, Reading]) -> None:
        """Take in what one broker said of partitions."""
        now = self._wall()
        topics: dict[str, dict[int, LogEnds | Unknown]] = {}
        for (topic, partition), reading in readings.items():
            if topic not in topics:
                topics[topic] = dict(self.samples.ends.get(topic, {}))
            before = topics[topic].get(partition)
            after = _ends(before, _told(broker, reading), now)
            topics[topic][partition] = after
            if _differs(before, after):
                self._topics.add(topic)
        self._sampled[0].update(topics)
        self._publish(ends=self.samples.ends.update(topics))

    def unknown(self, topic: str, reasons: Mapping[int, str]) -> None:
        """Partitions of a topic that nobody can be asked about."""
        ends = self.samples.ends.get(topic, {})
        after = {n: _ends(ends.get(n), reason, 0.0) for n, reason in reasons.items()}
        if any(_differs(ends.get(n), value) for n, value in after.items()):
            self._topics.add(topic)
            self._sampled[0].add(topic)
            self._publish(ends=self.samples.ends.set(topic, {**ends, **after}))

    def keep_partitions(self, topic: str, partitions: Mapping[int, object]) -> None:
        """Drop the samples of partitions that a topic no longer has."""
        ends = self.samples.ends.get(topic, {})
        if ends.keys() - partitions.keys():
            kept = {n: value for n, value in ends.items() if n in partitions}
            self._publish(ends=self.samples.ends.set(topic, kept))

    def commits(self, broker: int, group: str, committed: Told | str, *, whole: bool) -> None:
        """Take in what a group's coordinator said."""
        if isinstance(committed, str):
            self.unknown_commits(group, committed)
        else:
            self._commits(
                group, GroupCommits(broker, committed.commits, self._wall(), committed.refused, whole)
            )

    def no_commits(self, group: str) -> None:
        """A group of a cluster that has no topic to keep commits in: that is known, and nobody is asked."""
        self._commits(group, GroupCommits(None, {}, self._wall()))

    def unknown_commits(self, group: str, reason: str) -> None:
        """A group that nobody told anything about."""
        before = self.samples.commits.get(group)
        last = before.last if isinstance(before, UnknownCommits) else before
        passes = isinstance(reason, Passing)
        if passes:
            self._passing.add(group)
        self._commits(group, UnknownCommits(str(reason), last, passes))

    def _commits(self, group: str, after: GroupCommits | UnknownCommits) -> None:
        if _commits_differ(self.samples.commits.get(group), after):
            self._groups.add(group)
        self._sampled[1].add(group)
        self._publish(commits=self.samples.commits.set(group, after))
        self._use(group)

    def described(self, answers: Mapping[str, Description | str]) -> None:
        """Take in what a coordinator said of groups."""
        descriptions = self.samples.descriptions.mutate()
        for group, description in answers.items():
            before = descriptions.get(group)
            after = described_after(before, description)
            descriptions[group] = after
            if descriptions_differ(before, after):
                self._groups.add(group)
            self._sampled[1].add(group)
        self._publish(descriptions=descriptions.finish())
        for group in answers:
            self._use(group)

    def _use(self, group: str) -> None:
        """Keep account of the topics of a group: those of its commits and of its members."""
        topics = topics_used(self.samples, group)
        before = self._topics_of.get(group, frozenset())
        if topics == before:
            return
        self.used.subtract(before - topics)
        self.used.update(topics - before)
        for topic in before - topics:
            if not self.used[topic]:
                del self.used[topic]
        if topics:
            self._topics_of[group] = topics
        else:
            self._topics_of.pop(group, None)

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
        if before.groups != after.groups:
            self._list()

    def _list(self) -> None:
        listings = self.samples.listings.items()
        self.listed = {group: broker for broker, listing in listings for group in listing.groups or ()}

    def part(self, broker: int) -> None:
        """Forget what is known of a broker itself."""
        self.trouble(broker, None)
        if broker in self.samples.listings:
            self._brokers.add(broker)
            self._publish(listings=self.samples.listings.delete(broker))
            self._list()
        if broker in self.samples.retentions:
            self._publish(retentions=self.samples.retentions.delete(broker))

    def retention(self, broker: int, retention: Retention) -> None:
        """Take in how long a broker keeps offsets."""
        if self.samples.retentions.get(broker) != retention:
            self._brokers.add(broker)
            self._publish(retentions=self.samples.retentions.set(broker, retention))

    def trouble(self, broker: int, reason: str | None) -> None:
        """Remember why a broker cannot be asked; None where it answers."""
        troubles = self.samples.troubles
        if troubles.get(broker) == reason:
            return
        self._brokers.add(broker)
        self._publish(troubles=troubles.delete(broker) if reason is None else troubles.set(broker, reason))

    def drop(self, *, topics: Collection[str] = (), groups: Collection[str] = ()) -> None:
        """Forget samples that nobody needs."""
        self._publish(
            ends=_without(self.samples.ends, topics),
            commits=_without(self.samples.commits, groups),
        )
        for group in groups:
            self._use(group)
        self._sampled[0].update(topics)
        self._sampled[2].update(groups)

    def drop_descriptions(self, groups: Collection[str]) -> None:
        """Forget what groups looked like that nobody lists any more."""
        self._publish(descriptions=_without(self.samples.descriptions, groups))
        for group in groups:
            self._use(group)
        self._groups.update(groups)
        self._sampled[2].update(groups)

    def _publish(self, **fields: object) -> None:
        self.samples = msgspec.structs.replace(self.samples, **fields)


def _told(broker: int, reading: Reading) -> Reading:
    """A broker's own words on one partition name the broker; why it can't be asked does already."""
    if isinstance(reading, str) and not reading.startswith("cannot ask"):
        return f"broker {broker}: {reading}"
    return reading


def _ends(before: LogEnds | Unknown | None, reading: Reading, now: float) -> LogEnds | Unknown:
    if not isinstance(reading, str):
        last = before.last if isinstance(before, Unknown) else before
        return LogEnds(*reading, now) if last is None else LogEnds(*reading, now, last.end, last.sampled_at)
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


def topics_used(samples: Samples, group: str) -> frozenset[str]:
    """The topics that a group committed an offset of, or that its members were assigned."""
    commits, description = samples.commits.get(group), samples.descriptions.get(group)
    if isinstance(commits, UnknownCommits):
        commits = commits.last
    if isinstance(description, UnknownDescription):
        description = description.last
    committed = {topic for topic, _ in commits.commits} if commits else set()
    members = description.members if description else ()
    return frozenset(committed.union(*(member.assigned or () for member in members)))


def _without(mapping: immutables.Map[str, T], names: Iterable[str]) -> immutables.Map[str, T]:
    kept = mapping.mutate()
    for name in names:
        kept.pop(name, None)
    return kept.finish()
