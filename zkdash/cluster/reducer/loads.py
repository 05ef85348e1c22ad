"""What each broker carries, summed over all topics while a batch is applied.

A partition is reduced to what counts of it: most are alike, so that whole heaps of equal ones are added up
at once. What a topic gave before is taken out again, partition by partition where it is known to be the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import immutables

from zkdash.cluster.evaluation import partitions as judging
from zkdash.cluster.evaluation import topics
from zkdash.cluster.evaluation.context import Context, Part, Shape
from zkdash.cluster.evaluation.evaluator import Parts
from zkdash.cluster.model import summary
from zkdash.cluster.model.brokers.load import NOTHING, Load
from zkdash.cluster.model.draft import Draft
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.topics import Partition, Topic

_FIELDS = Load.__struct_fields__[:-1]


class Loads:
    """One per batch, thrown away after `close`."""

    def __init__(self, before: immutables.Map[int, Load], ground: Context) -> None:
        """`ground` is what partitions were judged by before the batch."""
        self._before = before
        self._ground = ground
        self._parts: Counter[Part | Shape] = Counter()
        self._topics_07: Counter[int] = Counter()
        self._partitions_07: Counter[int] = Counter()

    def move(self, before: Topic | None, after: Topic | None, ground: Context, parts: Parts) -> None:
        """A topic is another now, or came, or went. `ground` is what partitions are judged by now, `parts`
        are those of `after`."""
        was: Sequence[Partition] = () if before is None else summary.assigned(before)
        if (
            before is not None
            and after is not None
            and ground is self._ground
            and topics.is_framed_alike(before, after)
        ):
            now = summary.assigned(after)
            differ = [at for at, partition in enumerate(now) if partition is not was[at]]
            was, parts = [was[at] for at in differ], [parts[at] for at in differ]
        if before is not None:
            self._parts.subtract(judging.parts(before, was, self._ground))
            self._count_07(before, -1)
        if after is not None:
            self._parts.update(parts)
            self._count_07(after, 1)

    def close(self) -> immutables.Map[int, Load]:
        sums: dict[int, list[int]] = {}
        for part, count in self._parts.items():
            if count:
                _add(sums, part.part if isinstance(part, Shape) else part, count)
        for broker, count in self._topics_07.items():
            _row(sums, broker)[_TOPICS_07] += count
        for broker, count in self._partitions_07.items():
            _row(sums, broker)[_PARTITIONS_07] += count
        loads = Draft(self._before)
        for broker, more in sums.items():
            if any(more):
                loads.put(broker, _grown(self._before.get(broker, NOTHING), more))
        return loads.close()

    def _count_07(self, topic: Topic, sign: int) -> None:
        for count in topic.counts:
            self._topics_07[count.broker] += sign
            self._partitions_07[count.broker] += sign * count.count if isinstance(count.count, int) else 0


_LEADERS, _REPLICAS, _PREFERRED, _UNLED, _UNDER, _TOPICS_07, _PARTITIONS_07 = range(len(_FIELDS))
_SEVERITIES = len(_FIELDS)


def _add(sums: dict[int, list[int]], part: Part, count: int) -> None:
    replicas, leader, out, rank, judged = part
    holders = {broker for broker in replicas if broker >= 0}
    for broker in holders:
        _row(sums, broker)[_REPLICAS] += count
    if leader >= 0:
        _row(sums, leader)[_LEADERS] += count
        holders.add(leader)
    for broker in holders:
        _row(sums, broker)[_SEVERITIES + rank] += count
    if judged and replicas and replicas[0] >= 0:
        _row(sums, replicas[0])[_PREFERRED] += count
        _row(sums, replicas[0])[_UNLED] += count if leader != replicas[0] else 0
    for broker in holders.intersection(out):
        _row(sums, broker)[_UNDER] += count


def _row(sums: dict[int, list[int]], broker: int) -> list[int]:
    return sums.setdefault(broker, [0] * (_SEVERITIES + len(Severity)))


def _grown(load: Load, more: list[int]) -> Load | None:
    """The load with so much more of each, None where nothing is left."""
    sums = [getattr(load, field) + count for field, count in zip(_FIELDS, more, strict=False)]
    severities = tuple(map(sum, zip(load.severities, more[_SEVERITIES:], strict=True)))
    grown = Load(**dict(zip(_FIELDS, sums, strict=True)), severities=severities)
    return None if grown == NOTHING else grown
