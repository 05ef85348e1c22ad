"""How a broker builds and judges the indexes beside a segment, by release: `inspection.recovery` goes by it.

Sources: kafka.log.{OffsetIndex, TimeIndex} (append, sanityCheck), LogSegment.recover.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from zkdash.formats.kafkalog import frames
from zkdash.formats.kafkalog.frames import Frame, Head, Source
from zkdash.formats.problems import Problem

Release = tuple[int, int]  # major and minor: (0, 8), (3, 9)


BATCHES: Final = (0, 11)  # from here on entries are batches, whose last offset is indexed
OVERFLOW: Final = (2, 0)  # offsets too large for a segment split it (KAFKA-6264)
_TIMES: Final = (0, 10)  # time indexes; 0.10.0 has none, and none beside its segments
_PAIR = struct.Struct("!ii")
_MOMENT = struct.Struct("!qi")


class Settings(NamedTuple):
    """Of which release the broker is, and what its configuration says: `index.interval.bytes`, and in 0.8 to
    0.10 `message.max.bytes`, above which a message is no message."""

    release: Release
    interval: int = 4096
    largest: int = 1_000_012


class FallingError(Exception):
    """An index that is being built takes no offset that does not rise."""


class Building:
    """The indexes that a broker builds while it reads a segment; of each only the last entry is kept."""

    def __init__(self, base_offset: int, settings: Settings) -> None:
        self._settings = settings
        self._base = base_offset
        self._indexed_at = 0
        self._last: int | None = None
        self._newest = (-1, base_offset)  # timestamp and offset, of all entries so far
        self._timed: tuple[int, int] | None = None

    def add(self, frame: Frame, head: Head) -> None:
        """Take an entry. Raises FallingError."""
        if head.max_timestamp > self._newest[0]:
            self._newest = head.max_timestamp, head.last_offset
        if frame.position - self._indexed_at <= self._settings.interval:
            return
        offset = self._offset(frame, head)
        if self._last is not None and offset <= self._last:
            reason = f"at byte {frame.position} offset {offset} follows offset {self._last} in the index"
            raise FallingError(reason)
        self._last, self._indexed_at = offset, frame.position
        self.close()

    def close(self) -> None:
        """Put the newest timestamp into the time index. Raises FallingError."""
        if self._settings.release < _TIMES:
            return
        timestamp, offset = self._newest
        last_timestamp, last_offset = self._timed or (-1, self._base)
        if self._timed is not None and offset < last_offset:
            raise FallingError(f"offset {offset} follows offset {last_offset} in the time index")
        if timestamp > last_timestamp:
            self._timed = timestamp, offset

    def _offset(self, frame: Frame, head: Head) -> int:
        """The offset that is indexed: before 0.11 that of the first message in a wrapper."""
        if self._settings.release >= BATCHES or head.codec == "none":
            return head.last_offset
        entry = frames.entry(frame)
        return head.last_offset if isinstance(entry, Problem) else entry.base_offset


def insane(index: Source | None, times: Source | None, settings: Settings) -> str:
    """What a broker holds against the indexes as they lie there, zeros behind the last entry among them."""
    if index and index.size % _PAIR.size:
        return f"its index of {index.size} bytes ends within an entry"
    least = 0 if settings.release >= OVERFLOW else 1
    if index and index.size and _last(index, _PAIR)[0] < least:
        return "the last entry of its index is not behind the segment's first offset"
    if settings.release < _TIMES or times is None:
        return ""
    if times.size % _MOMENT.size:
        return f"its time index of {times.size} bytes ends within an entry"
    if times.size:
        first, _ = _MOMENT.unpack(times.read(0, _MOMENT.size))
        last, offset = _last(times, _MOMENT)
        if last < first or offset < 0:
            return "the last entry of its time index is before its first one"
    return ""


def _last(index: Source, shape: struct.Struct) -> tuple[int, int]:
    first, second = shape.unpack(index.read(index.size - shape.size, shape.size))
    return first, second
