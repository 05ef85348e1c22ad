"""Offsets of groups that lie outside of a partition's log, and what a consumer does that goes on from there.

A fetch below the log's start or beyond its end is answered OFFSET_OUT_OF_RANGE; auto.offset.reset then says
where the consumer goes on. Source: kafka.log.Log.read; org.apache.kafka.clients.consumer.internals.Fetcher;
kafka.consumer.ConsumerFetcherThread.handleOffsetOutOfRange of the old consumer.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

MOST = 50  # that are kept of a group; there may be 200 000


class Reset(NamedTuple):
    """Where a consumer goes on: at offset `to`.

    `lost` offsets between are no longer in the log, `skipped` are in it and would not be read, `again` are
    in it before the offset that was committed, or all of it, and would be read once more. They are numbers
    of offsets: a log that is compacted, or holds transactions, has fewer messages.
    """

    to: int
    lost: int = 0
    skipped: int = 0
    again: int = 0


class OutOfRange(msgspec.Struct, frozen=True, gc=False):
    """A committed `offset` outside of the log of one partition (its key), which holds [`start`, `end`).

    `kept_in` is "Kafka" or "ZooKeeper". `end` is what consumers may read up to, the high watermark.
    """

    topic: str
    partition: str
    offset: int
    start: int
    end: int
    kept_in: str

    @property
    def is_before(self) -> bool:
        """Whether it lies before the log's start; else it lies behind its end."""
        return self.offset < self.start

    @property
    def distance(self) -> int:
        """How many offsets it is away from the log."""
        return self.start - self.offset if self.is_before else self.offset - self.end

    @property
    def earliest(self) -> Reset:
        """With auto.offset.reset=earliest ("smallest" of the old consumer)."""
        if self.is_before:
            return Reset(self.start, lost=self.distance)
        return Reset(self.start, again=self.end - self.start)

    @property
    def latest(self) -> Reset:
        """With auto.offset.reset=latest ("largest"), which both consumers have unless it is set."""
        if self.is_before:
            return Reset(self.end, lost=self.distance, skipped=self.end - self.start)
        return Reset(self.end)


def furthest(entries: Iterable[OutOfRange]) -> tuple[OutOfRange, ...]:
    """The furthest from their logs, `MOST` of them."""
    return tuple(
        heapq.nsmallest(MOST, entries, key=lambda entry: (-entry.distance, entry.topic, entry.partition))
    )
