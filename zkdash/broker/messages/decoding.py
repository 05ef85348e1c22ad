"""The messages in what a broker sent: decoded entry by entry, bounded in what they may take.

Whoever wrote them may be mistaken, or hostile: `formats.bounds` holds for an entry, what stands here for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from zkdash.broker.messages.values import Batch, Data, Message, Passes
from zkdash.formats.kafkalog import frames
from zkdash.formats.kafkalog.entries import Entry, Record, control_type
from zkdash.formats.kafkalog.frames import Frame, Source
from zkdash.formats.problems import Problem

PLAIN_BYTES: Final = 64 << 20  # of all messages that are read, uncompressed
A_RECORD: Final = 200  # bytes that Python takes for one beside its own
KEPT_BYTES: Final = 4 << 20  # of all keys, values and headers that are kept
KEPT_OF_ONE: Final = 64 << 10  # of one of these
KEPT_HEADERS: Final = 100  # of a message
_CLOCKS: Final = {None: "", False: "CreateTime", True: "LogAppendTime"}
_OVERHEAD: Final = 12
_NO_TIMESTAMP: Final = -1


class Read(NamedTuple):
    """A message as it was decoded, with what it shares with its batch."""

    record: Record
    batch: Batch
    clock: str
    fate: str


class Transactions:
    """Which transactions were aborted, as a consumer of committed messages finds it out.

    Source: org.apache.kafka.clients.consumer.internals.CompletedFetch.
    """

    def __init__(self, aborted: tuple[tuple[int, int], ...], stable: int | None) -> None:
        self._aborted = list(reversed(aborted))
        self._stable = stable
        self._producers: set[int] = set()

    def fate(self, entry: Entry) -> str:
        """What became of the transaction of an entry, "" for one of none. Call it for each in their order."""
        while self._aborted and self._aborted[-1][0] <= entry.last_offset:
            self._producers.add(self._aborted.pop()[1])
        producer = entry.producer
        if producer is None or not producer.is_transactional:
            return ""
        if producer.is_control:
            if entry.records and control_type(entry.records[0]) == "abort":
                self._producers.discard(producer.id)
            return ""
        if self._stable is not None and entry.base_offset >= self._stable:
            return "open"
        return "aborted" if producer.id in self._producers else "committed"


def entries(data: bytes) -> Iterator[Entry | Problem]:
    """The entries of what a broker sent, the last of which may be cut off; positions count from its start.

    A problem's reason is told of a whole entry only.
    """
    for frame in frames.walk(Source(lambda at, size: data[at : at + size], len(data))):
        if isinstance(frame, Problem):
            if not frame.torn:
                yield frame
            return
        entry = frames.entry(frame)
        yield entry._replace(offset=_offset(frame)) if isinstance(entry, Problem) else entry


def first_size(data: bytes) -> int:
    """How many bytes the first entry of some has; 0 where not even that can be told."""
    if len(data) < _OVERHEAD:
        return 0
    return max(0, _OVERHEAD + int.from_bytes(data[8:_OVERHEAD], "big", signed=True))


def _offset(frame: Frame) -> int:
    """The last offset of an entry that is not read, as far as its head tells it."""
    head = frames.head(frame)
    return frame.offset if head is None else head.last_offset


def of_entry(entry: Entry, fate: str) -> Iterator[Read]:
    """The messages of an entry."""
    batch, clock = _batch(entry), _CLOCKS[entry.append_time]
    for record in entry.records:
        yield Read(record, batch, clock, fate)


def plain_size(record: Record) -> int:
    """About how many bytes a message takes in memory."""
    return A_RECORD + len(record.key or b"") + len(record.value or b"")


def shown(messages: Iterable[Read], *, passes: Passes, keeps: bool) -> tuple[Message, ...]:
    """Those that pass; of their keys and values the first bytes, and only the sizes unless `keeps`."""
    room = KEPT_BYTES if keeps else 0

    def kept(data: bytes | None) -> Data | None:
        nonlocal room
        if data is None:
            return None
        size = min(len(data), KEPT_OF_ONE, room)
        room -= size
        return Data(len(data), data[:size])

    return tuple(
        Message(
            record.offset,
            record.timestamp if clock and record.timestamp != _NO_TIMESTAMP else None,
            clock if record.timestamp != _NO_TIMESTAMP else "",
            kept(record.key),
            kept(record.value),
            tuple((name[:KEPT_OF_ONE], kept(value)) for name, value in record.headers[:KEPT_HEADERS]),
            batch,
            fate,
            (control_type(record) or "of another kind") if batch.is_control else "",
        )
        for record, batch, clock, fate in messages
        if passes(record.key, record.value, record.headers)
    )


def _batch(entry: Entry) -> Batch:
    shared = (
        entry.base_offset,
        entry.last_offset,
        entry.size,
        entry.magic,
        entry.codec,
        len(entry.records),
    )
    producer = entry.producer
    if producer is None:
        return Batch(*shared)
    return Batch(
        *shared,
        producer.leader_epoch,
        producer.id,
        producer.epoch,
        producer.base_sequence,
        producer.is_transactional,
        producer.is_control,
    )
