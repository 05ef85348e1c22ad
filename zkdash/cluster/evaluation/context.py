"""What a topic is evaluated by besides itself: live brokers, racks, defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.topics import Topic
from zkdash.kafka.configs import topic_options
from zkdash.kafka.values import TopicConfig

Replicas = tuple[int, ...]


class Mark(NamedTuple):
    """One fault of a partition: the check that fails by it ("" for none), how bad it is, what the
    partition's status says of it ("" where another mark does), and what the check adds ("" for nothing)."""

    check: str
    severity: Severity
    words: str
    detail: str = ""


class Part(NamedTuple):
    """What counts of a partition for the brokers that carry it: its leader (-1 for none or not known), the
    replicas that make it under-replicated, the rank of its status, and whether anybody asks if the right one
    leads."""

    replicas: Replicas
    leader: int
    out: Replicas
    rank: int
    judged: bool


class Shape(msgspec.Struct, frozen=True, eq=False):
    """What is held against any partition that stands like this, nothing against nearly all, and what counts
    of it. (Hashed by identity: a first load counts 200 000 of them.)"""

    marks: tuple[Mark, ...]
    part: Part


# By a partition's replicas, ISR and leader, and min.insync.replicas of its topic.
Shapes = Callable[[Replicas, Replicas, int, int], Shape]


class Context(msgspec.Struct, frozen=True):
    """`live` are the registered brokers. `controller_epoch` is None where it is not to be had. `racks` are
    those of the registered brokers that tell one. `min_isr` is min.insync.replicas of topics that have none
    of their own. `targets` are the entries of /admin/reassign_partitions by topic and partition."""

    live: frozenset[int] = frozenset()
    controller_epoch: int | None = None
    racks: Mapping[int, str] = {}
    min_isr: int = 1
    targets: Mapping[str, Mapping[int, Replicas]] = {}

    shapes: dict[str, Shapes] = {}  # kept by `partitions.shapes`, once it was asked

    def least(self, topic: Topic) -> int:
        """min.insync.replicas of a topic: its own, or the brokers' default."""
        own = topic.config.config if isinstance(topic.config, TopicConfig) else {}
        return topic_options.min_isr(own) or self.min_isr

    def is_crowded(self, replicas: Replicas) -> bool:
        """Whether replicas share racks though there are enough; nothing is said where a rack is not known."""
        racks = [self.racks.get(broker) for broker in replicas]
        enough = len(replicas) <= len(set(self.racks.values()))
        return None not in racks and len(set(racks)) < len(replicas) and enough

    def is_alike(self, other: Context) -> bool:
        """Whether every partition is judged alike by both."""
        return self is other or (
            self.live == other.live
            and self.controller_epoch == other.controller_epoch
            and self.racks == other.racks
            and self.min_isr == other.min_isr
            and (self.targets is other.targets or self.targets == other.targets)
        )
