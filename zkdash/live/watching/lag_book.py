"""Keeps the lag of every group as samples of brokers come in, topic by topic, and what all of them add up to.

Runs on the sampler's thread, at its pace: no commit has anything counted, only an answer of a broker. What a
group has in ZooKeeper is read when the end of the log is known; what it has in Kafka is compared with where
the log ended when the coordinator told it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from zkdash.broker.ledger import Sampled
from zkdash.broker.samples import Commit, GroupCommits, LogEnds, Samples, UnknownCommits
from zkdash.broker.samples import Unknown as NoEnds
from zkdash.cluster.analysis import position
from zkdash.cluster.analysis.position import Unknown
from zkdash.cluster.model.brokers import out_of_range
from zkdash.cluster.model.brokers.lags import GroupLag, Lags, TopicConsumers, TopicLag, Worst, sum_up
from zkdash.cluster.model.brokers.out_of_range import OutOfRange
from zkdash.cluster.model.groups import Offset
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka import paths
from zkdash.live.watching import positions

# So many partitions a turn, of which there are four a second: about 20 ms.
BUDGET = 5_000
_EACH = 5  # what a group's topic takes beside its partitions, in partitions
PUBLISH_S = 2.0
_TREND_S = 30.0
_TREND = 20  # values, which with their place take 0.8 kB a group: 12 MB of 15 000

Commits = Mapping[int, Commit | Unknown]


class Committed(NamedTuple):
    """What a coordinator told of one topic, and the epoch second when it did."""

    commits: Commits
    told_at: float


Place = tuple[str, str]  # group, topic


class LagBook:
    """The lags of one cluster; one thread only, but for `lags`, which anybody may read."""

    def __init__(self) -> None:
        self.lags = Lags()
        self._published_at = float("-inf")
        self._pending: dict[Place, None] = {}
        self._commits: dict[str, Mapping[str, Commits]] = {}
        self._told_at: dict[str, float] = {}
        self._groups_of: dict[str, set[str]] = {}  # by topic, of those with something in Kafka
        self._settled: dict[Place, float] = {}
        self._by_group: dict[str, dict[str, TopicLag]] = {}
        self._by_topic: dict[str, dict[str, TopicLag]] = {}
        self._trends: dict[str, tuple[float, tuple[int | None, ...]]] = {}
        self._touched: tuple[set[str], set[str]] = set(), set()
        self._total = 0, 0  # what is left to read, and of how many groups that is known

    def take(self, sampled: Sampled, state: ClusterState, samples: Samples, now: float) -> None:
        """Count what was told anew, as much of it as a turn takes, and publish it every `PUBLISH_S`.

        `now` is the epoch second.
        """
        for group in sampled.dropped:
            self._drop(group)
        for group in sampled.groups:
            self._index(group, samples)
        for topic in sampled.topics:
            # Also those that had offsets of it: who has none left is forgotten.
            for groups in (state.consumers, self._groups_of, self._by_topic):
                self._pending.update(dict.fromkeys((group, topic) for group in groups.get(topic, ())))
        self._work(state, samples)
        if now - self._published_at >= PUBLISH_S and any(self._touched):
            self._published_at = now
            self._publish(now)

    def _drop(self, group: str) -> None:
        """Forget a group, whose topics in ZooKeeper come again with their samples."""
        for topic in self._commits.pop(group, ()):
            self._leave(group, topic)
        for topic in self._by_group.pop(group, ()):
            self._forget_topic(group, topic)
        self._told_at.pop(group, None)
        self._trends.pop(group, None)
        self._touched[0].add(group)

    def _index(self, group: str, samples: Samples) -> None:
        """Sort what a coordinator told by topic, once for all of them."""
        answer = samples.commits.get(group)
        commits = answer.last if isinstance(answer, UnknownCommits) else answer
        by_topic: dict[str, dict[int, Commit | Unknown]] = {}
        for (topic, partition), commit in commits.commits.items() if commits else ():
            by_topic.setdefault(topic, {})[partition] = (
                Unknown(answer.reason) if isinstance(answer, UnknownCommits) else commit
            )
        for (topic, partition), reason in commits.refused.items() if commits else ():
            by_topic.setdefault(topic, {})[partition] = Unknown(reason)
        before = self._commits.get(group, {})
        self._commits[group] = by_topic
        for topic in before.keys() - by_topic.keys():
            self._leave(group, topic)
        for topic in by_topic:
            self._groups_of.setdefault(topic, set()).add(group)
        if isinstance(answer, GroupCommits):
            self._told_at[group] = answer.sampled_at
        self._pending.update(dict.fromkeys((group, topic) for topic in {*before, *by_topic}))
        self._touched[0].add(group)

    def _leave(self, group: str, topic: str) -> None:
        groups = self._groups_of.get(topic, set())
        groups.discard(group)
        if not groups:
            self._groups_of.pop(topic, None)
        self._settled.pop((group, topic), None)

    def _work(self, state: ClusterState, samples: Samples) -> None:
        left = BUDGET
        while self._pending and left > 0:
            place = next(iter(self._pending))
            del self._pending[place]
            left -= _EACH + self._measure(place, state, samples)

    def _measure(self, place: Place, state: ClusterState, samples: Samples) -> int:
        """Count one topic of one group; how many partitions that took."""
        name, topic = place
        group = state.groups.get(name)
        offsets = group.offsets.get(topic, {}) if group else {}
        commits = self._commits.get(name, {}).get(topic, {})
        told_at = self._told_at.get(name, 0.0)
        if not offsets and commits and self._settled.get(place) == told_at:
            return 1  # a later end of the log tells nothing of what was committed before it
        if not offsets and not commits:
            self._put(name, topic, None)
            return 1
        ends = samples.ends.get(topic, {})
        topic_lag = _topic_lag(topic, offsets, Committed(commits, told_at), ends, samples.otherwise)
        self._put(name, topic, topic_lag)
        if commits and topic_lag is not None and topic_lag.as_of == told_at:
            self._settled[place] = told_at
        return len(offsets) + len(commits)

    def _put(self, group: str, topic: str, lag: TopicLag | None) -> None:
        if lag is None:
            if self._by_group.get(group, {}).pop(topic, None) is not None:
                self._forget_topic(group, topic)
                self._touched[0].add(group)
            return
        self._by_group.setdefault(group, {})[topic] = lag
        self._by_topic.setdefault(topic, {})[group] = lag
        self._touched[0].add(group)
        self._touched[1].add(topic)

    def _forget_topic(self, group: str, topic: str) -> None:
        groups = self._by_topic.get(topic, {})
        groups.pop(group, None)
        if not groups:
            self._by_topic.pop(topic, None)
        self._touched[1].add(topic)

    def _publish(self, now: float) -> None:
        """Swap the pointer: its cost follows what was counted anew."""
        touched_groups, touched_topics = self._touched
        self._touched = set(), set()
        groups, topics = self.lags.groups.mutate(), self.lags.topics.mutate()
        total, counted = self._total
        for name in touched_groups:
            before = groups.pop(name, None)
            after = self._group_lag(name, now)
            if after is not None:
                groups[name] = after
            total += _least(after) - _least(before)
            counted += _is_counted(after) - _is_counted(before)
        for topic in touched_topics:
            topics.pop(topic, None)
            if by_group := self._by_topic.get(topic):
                topics[topic] = _consumers(by_group)
        self._total = total, counted
        self.lags = Lags(groups.finish(), topics.finish(), total if counted else None)

    def _group_lag(self, name: str, now: float) -> GroupLag | None:
        topics = self._by_group.get(name)
        if not topics and name not in self._told_at:
            self._trends.pop(name, None)
            return None
        lag = sum_up(dict(topics or {}))
        at, trend = self._trends.get(name, (float("-inf"), ()))
        if now - at >= _TREND_S:
            trend = (*trend, lag.lag)[-_TREND:]
            self._trends[name] = now, trend
        return msgspec.structs.replace(lag, trend=trend)


def _topic_lag(
    topic: str,
    offsets: Mapping[str, Offset],
    in_kafka: Committed,
    ends: Mapping[int, LogEnds | NoEnds],
    otherwise: str,
) -> TopicLag | None:
    """The lag of one group on one topic; None where no offset of it tells anything."""
    least, reason, worst, as_of = 0, "", None, float("inf")
    is_known = False
    outside: list[OutOfRange] = []
    commits, told_at, no_ends = in_kafka.commits, in_kafka.told_at, NoEnds(otherwise)
    for key in {*offsets, *map(str, commits)} if commits else offsets:
        number = int(key) if paths.is_id(key) else -1
        offset, commit, end = offsets.get(key), commits.get(number), ends.get(number, no_ends)
        stored = None if offset is None else offset.value
        mtime = offset.znode.mtime if offset and offset.znode else None
        told_offset = commit.offset if isinstance(commit, Commit) else commit
        measured = positions.of_partition(end, stored, told_offset, told_at)
        left = position.lag(measured, stored, mtime)
        written = None if mtime is None else mtime / 1000
        if stray := positions.outside((topic, key), end, stored, told_offset, (written, told_at)):
            outside.append(stray)
        if isinstance(left, Unknown):
            reason = left.reason
        elif left is not None and measured.log_end_at is not None:
            is_known = True
            left = max(0, left)
            least += left
            as_of = min(as_of, measured.log_end_at)
            if worst is None or left > worst.lag:
                worst = Worst(left, topic, key)
    if not is_known and not reason:
        return None
    known_at = as_of if as_of != float("inf") else None
    whole = None if reason else least
    return TopicLag(
        whole, least, worst, known_at, reason, len(outside), out_of_range.furthest(outside) if outside else ()
    )


def _consumers(by_group: Mapping[str, TopicLag]) -> TopicConsumers:
    return TopicConsumers(
        by_group=dict(by_group),
        behind=sum(lag.least > 0 for lag in by_group.values()),
        least=sum(lag.least for lag in by_group.values()),
        as_of=min((lag.as_of for lag in by_group.values() if lag.as_of is not None), default=None),
    )


def _least(lag: GroupLag | None) -> int:
    return 0 if lag is None else lag.least


def _is_counted(lag: GroupLag | None) -> int:
    """1 where anything of a group's lag is known."""
    return int(lag is not None and lag.as_of is not None)
