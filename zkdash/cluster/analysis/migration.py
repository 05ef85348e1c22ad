"""How far a group has moved its offsets from ZooKeeper to Kafka, by the steps that document 002 tells.

1. offsets.storage=kafka and dual.commit.enabled=true, bounce the consumers one by one; 2. dual.commit.enabled
=false, bounce again. Neither option is in ZooKeeper: the state is told by which offsets move. A consumer
writes ZooKeeper only where an offset changed (ZookeeperConsumerConnector.commitOffsetToZooKeeper), so that a
group with nothing to read tells nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

import msgspec

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.severity import Severity

# Three of the slowest default commits (auto.commit.interval.ms is 60 000 from 0.8 on).
WINDOW_MS = 180_000

Offsets = Mapping[tuple[str, int], int]


class Stage(enum.Enum):
    """Where a group stands; the value is the words for it."""

    NOT_STARTED = "not started"
    DUAL_COMMIT = "dual commit"
    MOVED = "moved"
    STALLED = "stalled"
    UNKNOWN = "unknown"

    @property
    def severity(self) -> Severity:
        return _SEVERITIES[self]


_SEVERITIES = {
    Stage.NOT_STARTED: Severity.INFO,
    Stage.DUAL_COMMIT: Severity.INFO,
    Stage.MOVED: Severity.OK,
    Stage.STALLED: Severity.WARNING,
    Stage.UNKNOWN: Severity.UNKNOWN,
}


class Sample(msgspec.Struct, frozen=True):
    """A group's offsets at one moment (`at`, epoch milliseconds).

    `zookeeper` and `kafka` are offsets by topic and partition; `kafka` is None where it is not known, and
    `kafka_reason` says why. `written` is the newest mtime of the offsets in ZooKeeper. `lag` is what is
    left to read by the furthest offsets, None where it is not known.
    """

    at: int
    members: int
    zookeeper: Offsets
    written: int | None
    kafka: Offsets | None
    kafka_reason: str | None = None
    lag: int | None = None


class Migration(msgspec.Struct, frozen=True):
    """Where a group stands, why we think so, and what the document says to do next (None: nothing)."""

    stage: Stage
    reason: str
    next_step: str | None = None


def sample(
    group: Group, at: int, kafka: Offsets | None, *, kafka_reason: str | None = None, lag: int | None = None
) -> Sample:
    """A sample of a group as its znodes stand. Offsets of 0.7 are byte positions and are left out."""
    zookeeper = {
        (topic, int(key)): offset.value
        for topic, offsets in group.offsets.items()
        for key, offset in offsets.items()
        if isinstance(offset.value, int) and key.isdecimal()
    }
    times = [
        offset.znode.mtime for keys in group.offsets.values() for offset in keys.values() if offset.znode
    ]
    return Sample(at, len(group.members), zookeeper, max(times, default=None), kafka, kafka_reason, lag)


def keep(history: Sequence[Sample], new: Sample, *, window_ms: int = WINDOW_MS) -> tuple[Sample, ...]:
    """The history with one more sample: those within the window, and the newest that is as old as it."""
    samples = (*history, new)
    old = sum(sample.at <= new.at - window_ms for sample in samples)
    return samples[max(0, old - 1) :]


def judge(history: Sequence[Sample], *, window_ms: int = WINDOW_MS) -> Migration:
    """Where the group stands, by samples in the order of time; `keep` makes such a history.

    What moved within the window moves. A group that changes its ways shows as dual commit for so long.
    """
    if not history:
        return Migration(Stage.UNKNOWN, "not sampled yet")
    last = history[-1]
    seen = _Seen(last, _writes(history, window_ms), _commits(history), last.at - history[0].at >= window_ms)
    if last.kafka is None:
        return _without_kafka(seen)
    if not last.kafka:
        return _only_zookeeper(seen)
    if not last.zookeeper:
        return Migration(Stage.MOVED, "offsets are in Kafka, and none are in ZooKeeper")
    return _in_both(seen)


_START = "set offsets.storage=kafka and dual.commit.enabled=true, and restart the consumers one by one"
_FINISH = "once all consumers do so, set dual.commit.enabled=false and restart them one by one"


class _Seen(msgspec.Struct, frozen=True):
    """The last sample, whether offsets moved in either place, and whether we watched long enough."""

    last: Sample
    zookeeper_moves: bool
    kafka_moves: bool
    long_enough: bool

    @property
    def is_stalled(self) -> bool:
        """Whether live members leave messages unread and commit nothing."""
        still = not (self.zookeeper_moves or self.kafka_moves) and self.long_enough
        return still and self.last.members > 0 and self.last.lag is not None and self.last.lag > 0


def _writes(history: Sequence[Sample], window_ms: int) -> bool:
    """Whether offsets move in ZooKeeper: by the newest write, which changes one, else by them."""
    first, last = history[0], history[-1]
    if last.written is None:
        return _differ(first.zookeeper, last.zookeeper)
    return last.at - last.written < window_ms


def _commits(history: Sequence[Sample]) -> bool:
    """Whether offsets moved in Kafka since they are known."""
    offsets = [sample.kafka for sample in history if sample.kafka is not None]
    return bool(offsets) and _differ(offsets[0], offsets[-1])


def _differ(before: Offsets, after: Offsets) -> bool:
    """Whether an offset changed, or one came."""
    return any(before.get(place) != offset for place, offset in after.items())


def _without_kafka(seen: _Seen) -> Migration:
    why = seen.last.kafka_reason or "what is in Kafka is not known"
    if seen.zookeeper_moves:
        why = f"offsets move in ZooKeeper; whether in Kafka as well is not known: {why}"
    elif seen.last.members and seen.last.zookeeper:
        why = f"offsets stand still in ZooKeeper; moved, idle or stalled cannot be told: {why}"
    return Migration(Stage.UNKNOWN, why)


def _only_zookeeper(seen: _Seen) -> Migration:
    if not seen.last.zookeeper:
        return Migration(Stage.UNKNOWN, "the group has no offsets, neither in ZooKeeper nor in Kafka")
    if seen.is_stalled:
        why = f"offsets are in ZooKeeper only and stand still, with {seen.last.lag} messages to read"
        return Migration(Stage.STALLED, why)
    return Migration(Stage.NOT_STARTED, "offsets are in ZooKeeper only", _START)


def _in_both(seen: _Seen) -> Migration:
    if seen.kafka_moves and seen.zookeeper_moves:
        return Migration(Stage.DUAL_COMMIT, "offsets move in ZooKeeper and in Kafka", _FINISH)
    if seen.kafka_moves:
        return Migration(Stage.MOVED, "offsets move in Kafka, and stand still in ZooKeeper")
    if not seen.long_enough:
        return Migration(Stage.UNKNOWN, "not watched for long enough to tell whether offsets move in Kafka")
    if seen.zookeeper_moves:
        return Migration(Stage.NOT_STARTED, "offsets move in ZooKeeper only; Kafka holds old ones", _START)
    if seen.is_stalled:
        why = f"no offset moves in ZooKeeper or in Kafka, with {seen.last.lag} messages to read"
        return Migration(Stage.STALLED, why)
    return _at_rest(seen.last.zookeeper, seen.last.kafka or {})


def _at_rest(zookeeper: Offsets, kafka: Offsets) -> Migration:
    """Nothing moves, and nothing is known to be left to read: what the offsets themselves tell."""
    gaps = [kafka[place] - zookeeper[place] for place in zookeeper.keys() & kafka.keys()]
    if any(gap > 0 for gap in gaps) and min(gaps) >= 0:
        return Migration(Stage.MOVED, "no offset moves; those in Kafka are further than those in ZooKeeper")
    if any(gap < 0 for gap in gaps) and max(gaps) <= 0:
        why = "no offset moves; those in ZooKeeper are further than those in Kafka"
        return Migration(Stage.NOT_STARTED, why, _START)
    return Migration(Stage.UNKNOWN, "no offset moves, and what ZooKeeper and Kafka hold does not tell more")
