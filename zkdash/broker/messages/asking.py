"""A look at one partition: its leader is asked for offsets and messages, once and now.

No group is joined, nothing is committed, nothing is kept. It ends with what it has when it took as much as
its bounds allow, and says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from zkdash.broker import leaders_asked, questions
from zkdash.broker.leaders_asked import Reason
from zkdash.broker.link import Link
from zkdash.broker.messages import decoding, fetch
from zkdash.broker.messages.decoding import Read
from zkdash.broker.messages.reader import Reader, RefusedError
from zkdash.broker.messages.values import At, Before, Bounds, From, Look, Passes, Place
from zkdash.broker.questions import EARLIEST, LATEST, Partition
from zkdash.broker.resolver import Lookup, addresses
from zkdash.broker.rounds import Leaders
from zkdash.configuration.brokers import IN_THE_CLEAR, Security
from zkdash.kafka.values import Broker

__all__ = ["Reason", "ask"]

_GROWS: Final = 4  # so many times wider, each time that a window held too few messages
_MOST_NOTES: Final = 5


def ask(
    brokers: Mapping[int, Broker],
    leaders: Leaders,
    partition: Partition,
    place: Place,
    bounds: Bounds,
    *,
    passes: Passes,
    keeps: bool,
    lookup: Lookup = addresses,
    security: Security = IN_THE_CLEAR,
) -> Look | Reason:
    """Look at a partition, as `leaders_asked.ask` asks of it: it blocks for `bounds.seconds` at most.

    Of messages that do not pass only their number is told; of keys and values only sizes unless `keeps`.
    """

    async def batch(link: Link, broker: Broker, _: Sequence[Partition]) -> Mapping[Partition, Look | Reason]:
        try:
            versions = await fetch.versions(link, broker)
            looking = _Looking(link, partition, versions.list_offsets, bounds, versions.fetch)
            return {partition: await looking.at(place, passes=passes, keeps=keeps)}
        except RefusedError as refusal:
            return {partition: Reason(f"broker {broker.id}: {refusal}")}

    answers = leaders_asked.ask(
        brokers,
        leaders,
        [partition],
        batch,
        limit_s=bounds.seconds,
        lookup=lookup,
        security=security,
    )
    return answers[partition]


class _Looking:
    """One look: from a place to the offsets that it means, and the messages there."""

    def __init__(
        self, link: Link, partition: Partition, version: int, bounds: Bounds, fetch_version: int
    ) -> None:
        self._link, self._partition, self._version = link, partition, version
        self._most = bounds.messages
        self._reader = Reader(link, partition, fetch_version, bounds)
        self._notes: list[str] = []
        self._end = 0

    async def at(self, place: Place, *, passes: Passes, keeps: bool) -> Look:
        """Raises TroubleError, RefusedError."""
        start = await self._offset(EARLIEST) or 0
        self._end = end = await self._offset(LATEST) or 0
        if isinstance(place, From | At):
            first = place.offset if isinstance(place, From) else await self._at_time(place.time_ms, start)
            if first < start:
                self._notes.append(f"The log begins at offset {start}: what was before it is gone.")
            messages, begins, ends = await self._forward(max(first, start))
        else:
            before = min(place.offset, end) if isinstance(place, Before) else end
            messages, begins, ends = await self._backward(start, max(before, start))
        return Look(
            start=start,
            end=end,
            begins=begins,
            ends=ends,
            messages=decoding.shown(messages, passes=passes, keeps=keeps),
            seen=len(messages),
            read_bytes=self._reader.read_bytes,
            notes=tuple(self._said()),
        )

    def _said(self) -> Iterator[str]:
        yield from self._notes
        unread = self._reader.notes
        yield from unread[:_MOST_NOTES]
        if len(unread) > _MOST_NOTES:
            yield f"{len(unread) - _MOST_NOTES} more entries are left out."
        if self._reader.stopped:
            yield self._reader.stopped

    async def _offset(self, at: int) -> int | None:
        answer = await self._link.ask(questions.log_offsets([self._partition], at, self._version))
        offset = questions.read_offsets_at(answer, [self._partition], self._version)[self._partition]
        if isinstance(offset, str):
            raise RefusedError(offset)
        return offset

    async def _at_time(self, time_ms: int, start: int) -> int:
        """The offset of a moment, and what is to be said of it."""
        offset = await self._offset(time_ms)
        if self._version:
            if offset is None:
                self._notes.append("The log holds no message as late as that.")
            return self._end if offset is None else offset
        if offset is None:
            self._notes.append("No segment of the log was complete by then: it begins with the first.")
            return start
        self._notes.append(
            "This broker knows the times of segments only (before Kafka 0.10.1): it begins with the last one "
            "that was complete by then, so that earlier messages come first."
        )
        return offset

    async def _forward(self, first: int) -> tuple[list[Read], int, int]:
        """As many as the bounds allow from an offset on."""
        messages: list[Read] = []

        def take(message: Read) -> bool:
            messages.append(message)
            return len(messages) == self._most

        after = await self._reader.between(first, self._end, take)
        return messages, first, max(after, first)

    async def _backward(self, start: int, before: int) -> tuple[list[Read], int, int]:
        """The last ones before an offset: in windows that grow, since compaction leaves gaps."""
        messages: list[Read] = []
        begins = ends = before
        width = self._most
        while begins > start and len(messages) < self._most and not self._reader.stopped:
            low = max(start, begins - width)
            window: deque[Read] = deque(maxlen=self._most - len(messages))

            def take(message: Read, window: deque[Read] = window) -> bool:
                window.append(message)
                return False

            reached = await self._reader.between(low, begins, take)
            if reached < begins < before:
                break  # what was read of it does not lead up to the rest
            ends = min(ends, reached) if begins == before else ends
            begins = low
            messages[:0] = window
            width *= _GROWS
        if len(messages) == self._most:
            begins = messages[0].record.offset
        return messages, begins, ends
