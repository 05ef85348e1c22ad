"""What groups committed, the last of each, as the coordinator reads it from `__consumer_offsets`.

A commit of a transaction counts when its producer's marker says so, unless a later one was there already.
Source: kafka.coordinator.group.GroupMetadataManager (loadGroupsAndOffsets).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from zkdash.formats.kafkalog import offsets
from zkdash.formats.kafkalog.entries import Entry, Record, control_type
from zkdash.formats.kafkalog.offsets import Offset, OffsetKey
from zkdash.formats.problems import Problem


class Committed(NamedTuple):
    """A commit, and the offset of its record in `__consumer_offsets`."""

    value: Offset
    record_offset: int


class Commits:
    """Read a partition of `__consumer_offsets` entry by entry; then `found` is what stands."""

    def __init__(self) -> None:
        self.found: dict[OffsetKey, Committed] = {}
        self._open: dict[int, dict[OffsetKey, Committed | None]] = {}

    def add(self, entry: Entry) -> Iterator[Problem]:
        """Take the next entry; what could not be read of it is told by the entry's position."""
        by = entry.producer
        if by and by.is_control:
            for record in entry.records:
                self._end(by.id, control_type(record))
            return
        for record in entry.records:
            if wrong := self._record(record, by.id if by and by.is_transactional else None):
                reason = f"the record at offset {record.offset}: {wrong.reason}"
                yield Problem(entry.position, reason)

    def _record(self, record: Record, producer: int | None) -> Problem | None:
        key = offsets.key(record.key) if record.key is not None else Problem(0, "it has no key")
        if isinstance(key, Problem):
            return key
        if isinstance(key, offsets.GroupKey):
            group = None if record.value is None else offsets.group(record.value)
            return group if isinstance(group, Problem) else None
        value = None if record.value is None else offsets.offset(record.value)
        if isinstance(value, Problem):
            return value
        committed = None if value is None else Committed(value, record.offset)
        if producer is not None:
            self._open.setdefault(producer, {})[key] = committed
        elif committed is None:
            self.found.pop(key, None)
        else:
            self.found[key] = committed
        return None

    def _end(self, producer: int, how: str | None) -> None:
        pending = self._open.pop(producer, {})
        if how != "commit":
            return
        for key, committed in pending.items():
            there = self.found.get(key)
            if committed is None:
                self.found.pop(key, None)
            elif there is None or there.record_offset < committed.record_offset:
                self.found[key] = committed
