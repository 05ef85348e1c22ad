"""What a segment holds: entries, each of which carries one record or many."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, overload

from zkdash.formats import bounds

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")


class Record(NamedTuple):
    """One message. `timestamp` is epoch milliseconds, None before v1. `sequence` −1 without a producer id.

    Key and value may be null. In a file of 0.7 the offset is a position of bytes in the partition, and all
    messages of a compressed one have its offset.
    """

    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    sequence: int = -1
    crc: int | None = None


class Many(Sequence[Record]):
    """The records of an entry that has more than are held at once: decoded anew for whoever asks for them.

    `decoded` begins at the first of them; they were all read once, so that it raises nothing.
    """

    def __init__(self, decoded: Callable[[], Iterator[Record]], count: int, last: Record) -> None:
        self._decoded, self._count, self._last = decoded, count, last

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Record]:
        return self._decoded()

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Record, ...]: ...

    def __getitem__(self, index: int | slice) -> Record | tuple[Record, ...]:
        wanted = range(self._count)[index]
        if isinstance(wanted, range):
            return tuple(self[number] for number in wanted)
        if wanted == self._count - 1:
            return self._last
        return next(itertools.islice(self._decoded(), wanted, None))


def held(decoded: Callable[[], Iterator[Record]]) -> Sequence[Record]:
    """The records of an entry, all of which are read once. Raises ValueError as `decoded` does."""
    reading = decoded()
    first = tuple(itertools.islice(reading, bounds.KEPT))
    last = None
    count = len(first)
    for last in reading:  # noqa: B007 - it is wanted behind the loop
        count += 1
    return first if last is None else Many(decoded, count, last)


class Producer(NamedTuple):
    """Who wrote a batch of v2, −1 where it is not idempotent; and what the batch is."""

    leader_epoch: int
    id: int
    epoch: int
    base_sequence: int
    is_transactional: bool
    is_control: bool
    delete_horizon_ms: int | None


class Entry(NamedTuple):
    """One entry of a segment: a batch of v2; a message of v0, v1 or 0.7, which may be a wrapper of many.

    position, size: in bytes, in the file. magic: the format's, of 0.7 its own. codec: one of CODECS.
    append_time: True where the broker set the timestamps, None where there are none. max_timestamp: epoch ms.
    records: a tuple, or Many. What `bounds` does not allow is no entry.
    """

    position: int
    size: int
    magic: int
    base_offset: int
    last_offset: int
    codec: str
    crc: int
    append_time: bool | None
    max_timestamp: int | None
    records: Sequence[Record]
    producer: Producer | None = None


def control_type(record: Record) -> str | None:
    """What a control record says, "abort" or "commit" (KIP-98); None where it is another or none."""
    if record.key is None or len(record.key) < 4:
        return None
    return {0: "abort", 1: "commit"}.get(int.from_bytes(record.key[2:4], "big"))
