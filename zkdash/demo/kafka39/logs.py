"""The logs of the simulated topics: where they start and end, by the simulation's clock. Pure.

There are no messages. How many a partition has taken by some moment is a function of time: a rate of its own
that swings around its mean, so that ends only grow, and the same seed has the same logs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from random import Random

import msgspec

from zkdash.demo.kafka39.definitions import NewTopic
from zkdash.time_units import DAY_MS

_SWING = 0.6  # how far the rate goes from its mean
_PERIOD_S = (150.0, 400.0)
_AGE_S = (20 * 86_400.0, 400 * 86_400.0)
_KEEP_MS = 7 * DAY_MS  # log.retention.hours is 168 by default
_MESSAGE_BYTES = 30  # of a message in its log, with many others compressed
_KEYS = 2_000_000  # that compaction leaves of a log at most
_SEGMENTS = 10  # how many of them retention keeps: a log's start moves by whole ones


class _Log(msgspec.Struct, frozen=True):
    """One partition's log: `per_s` messages a second since `began`; it keeps `keep_s`, None for all."""

    began: float
    per_s: float
    period_s: float
    phase: float
    keep_s: float | None
    is_compacted: bool

    def end(self, at: float) -> int:
        """The offset of the next message at a moment."""
        age = max(0.0, at - self.began)
        turn = 2 * math.pi / self.period_s
        swing = _SWING / turn * (math.sin(turn * age + self.phase) - math.sin(self.phase))
        return max(0, int(self.per_s * (age + swing)))

    def start(self, at: float) -> int:
        """The first offset kept at a moment."""
        if self.keep_s is None:
            return 0
        segment = max(1, int(self.per_s * self.keep_s / _SEGMENTS))
        return self.end(at - self.keep_s) // segment * segment


class _Topic(msgspec.Struct, frozen=True):
    """A topic since it began, and those of its logs that were asked for."""

    definition: NewTopic
    began: float
    logs: dict[int, _Log]


class Logs:
    """Logs by topic and partition; from any thread. `now` gives seconds since the simulation began.

    The topics that it begins with are old already. A topic that nobody added began with the simulation.
    """

    def __init__(self, seed: int, now: Callable[[], float], topics: Iterable[NewTopic]) -> None:
        self._seed = seed
        self._now = now
        self._topics = {
            topic.name: _Topic(topic, -self._random(topic.name).uniform(*_AGE_S), {}) for topic in topics
        }

    def add(self, topic: NewTopic) -> None:
        """A topic is made now; its logs are empty."""
        self._topics[topic.name] = _Topic(topic, self._now(), {})

    def has(self, topic: str) -> bool:
        """Whether there are logs of a topic."""
        return topic in self._topics

    def remove(self, topic: str) -> None:
        """A topic is gone, with its logs."""
        self._topics.pop(topic, None)

    def end(self, topic: str, partition: int, *, ago_s: float = 0.0) -> int:
        """The offset that the next message gets, or got so many seconds ago."""
        return self._log(topic, partition).end(self._now() - ago_s)

    def start(self, topic: str, partition: int) -> int:
        """The first offset that is kept."""
        return self._log(topic, partition).start(self._now())

    def size(self, topic: str, partition: int) -> int:
        """How many bytes are kept."""
        kept = self.end(topic, partition) - self.start(topic, partition)
        return _MESSAGE_BYTES * (min(kept, _KEYS) if self._log(topic, partition).is_compacted else kept)

    def offset_since(self, topic: str, partition: int, *, ago_s: float) -> int | None:
        """The first offset kept of those written since a moment; None where nothing was written since."""
        if ago_s <= 0:
            return None
        return max(self.start(topic, partition), self.end(topic, partition, ago_s=ago_s))

    def _log(self, topic: str, partition: int) -> _Log:
        entry = self._topics.setdefault(topic, _Topic(NewTopic(topic, 1, 1), 0.0, {}))
        log = entry.logs.get(partition)
        if log is None:
            log = entry.logs[partition] = self._make(entry.definition, entry.began, partition)
        return log

    def _make(self, topic: NewTopic, began: float, partition: int) -> _Log:
        random = self._random(f"{topic.name}/{partition}")
        keep_ms = int(topic.config.get("retention.ms", _KEEP_MS))
        keeps_all = keep_ms < 0 or topic.config.get("cleanup.policy") == "compact"
        return _Log(
            began,
            topic.per_s / topic.partitions * random.uniform(0.6, 1.4),
            period_s=random.uniform(*_PERIOD_S),
            phase=random.uniform(0, 2 * math.pi),
            keep_s=None if keeps_all else keep_ms / 1000,
            is_compacted="compact" in topic.config.get("cleanup.policy", ""),
        )

    def _random(self, name: str) -> Random:
        return Random(f"{self._seed}/log {name}")  # noqa: S311 - a simulation, not a secret
