"""Whether the files of a log agree: entries in order, indexes, producers and epochs as the log has them.

A check takes each entry's head once, in the log's order, and holds only what it was given: the log may be of
any length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from zkdash.formats.inspection import resync
from zkdash.formats.kafkalog import frames
from zkdash.formats.kafkalog.checkpoints import Epoch
from zkdash.formats.kafkalog.entries import Entry, control_type
from zkdash.formats.kafkalog.frames import Frame, Head, Source
from zkdash.formats.kafkalog.indexes import AbortedTxn, OffsetPosition, TimestampOffset
from zkdash.formats.kafkalog.producer_snapshots import ProducerState
from zkdash.formats.problems import Problem

_PLACE: Final = 8  # bytes of an entry of `.index`
_MOMENT: Final = 12
_ABORTED: Final = 34


class Finding(NamedTuple):
    """What is wrong with a file, by its name: a problem, whose offset is a byte of that file."""

    file: str
    problem: Problem


class Check(Protocol):
    """What is held against the entries of a segment, or of all of a log."""

    def entry(self, frame: Frame, head: Head, first: int) -> Iterable[Finding]:
        """The next entry, whose offsets are from `first` on."""

    def end(self, next_offset: int) -> Iterable[Finding]:
        """The last entry was told; what comes next would have this offset."""


class Log:
    """Walks the segments of a log of 0.8 or later, one after the other."""

    def __init__(self, checks: Sequence[Check] = (), *, deep: bool = False) -> None:
        self._checks = tuple(checks)
        self._deep = deep
        self._epoch = -1
        self.next_offset = 0
        self.entries = 0

    def segment(
        self, name: str, source: Source, base_offset: int, checks: Sequence[Check] = ()
    ) -> Iterator[Finding | int]:
        """What is wrong with a segment; between that, how many bytes were read."""
        if base_offset < self.next_offset:
            reason = (
                f"the segment begins at {base_offset}, and the one before it ends at {self.next_offset - 1}"
            )
            yield Finding(name, Problem(0, reason))
        self.next_offset = max(self.next_offset, base_offset)
        last = base_offset - 1
        all_checks = (*self._checks, *checks)
        for frame in frames.walk(source):
            if isinstance(frame, Problem):
                yield Finding(name, told(source, frame))
                break
            head = frames.head(frame)
            if head is None or not frame.is_valid:
                reason = "the checksum of an entry does not hold" if head else "an entry that is too large"
                yield Finding(name, Problem(frame.position, reason))
                continue
            for problem in self._ordered(frame, head, last):
                yield Finding(name, problem)
            for check in all_checks:
                yield from check.entry(frame, head, last + 1)
            last = max(last, head.last_offset)
            self.entries += 1
            yield frame.position + frame.size
        self.next_offset = max(self.next_offset, last + 1)
        for check in checks:
            yield from check.end(self.next_offset)

    def end(self) -> Iterator[Finding]:
        """The last segment was told."""
        for check in self._checks:
            yield from check.end(self.next_offset)

    def _ordered(self, frame: Frame, head: Head, last: int) -> Iterator[Problem]:
        first = head.last_offset if head.base_offset is None else head.base_offset
        if first <= last:
            yield Problem(frame.position, f"offset {first} follows offset {last}")
        if not head.codec:
            yield Problem(frame.position, "an entry compressed in an unknown way")
        if head.leader_epoch < self._epoch and frame.is_batch:
            reason = f"leader epoch {head.leader_epoch} follows leader epoch {self._epoch}"
            yield Problem(frame.position, reason)
        self._epoch = max(self._epoch, head.leader_epoch)
        if self._deep:
            entry = frames.entry(frame)
            if isinstance(entry, Problem):
                yield entry


def told(source: Source, problem: Problem) -> Problem:
    """A problem that ended a walk, with what follows it."""
    if problem.torn:
        left = source.size - problem.offset
        return problem._replace(reason=f"{problem.reason}: {left} bytes are left")
    next_ = resync.following(source, problem.offset)
    if next_ is None:
        return problem._replace(reason=f"{problem.reason}; no whole entry follows")
    if isinstance(next_, resync.Unfound):
        reason = (
            f"{problem.reason}; no whole entry follows up to byte {next_.position}, where the search ends"
        )
        return problem._replace(reason=reason)
    reason = (
        f"{problem.reason}; from byte {next_.position} (offset {next_.offset}) to {next_.end} "
        f"{next_.entries} whole entries follow"
    )
    return problem._replace(reason=reason)


class OffsetIndex:
    """An `.index` against its segment."""

    def __init__(self, name: str, places: Sequence[OffsetPosition]) -> None:
        self._name, self._places, self._at = name, places, 0

    def entry(self, frame: Frame, head: Head, first: int) -> Iterator[Finding]:
        while self._at < len(self._places) and self._places[self._at].position <= frame.position:
            place = self._places[self._at]
            if place.position < frame.position:
                yield self._wrong(f"no entry of the segment begins at byte {place.position}")
            elif not first <= place.offset <= head.last_offset:
                yield self._wrong(f"the entry at byte {place.position} does not hold offset {place.offset}")
            self._at += 1

    def end(self, _next_offset: int) -> Iterator[Finding]:
        for place in self._places[self._at :]:
            yield self._wrong(f"no entry of the segment begins at byte {place.position}")
            self._at += 1

    def _wrong(self, reason: str) -> Finding:
        return Finding(self._name, Problem(self._at * _PLACE, reason))


class TimeIndex:
    """A `.timeindex` against its segment."""

    def __init__(self, name: str, moments: Sequence[TimestampOffset]) -> None:
        self._name, self._moments, self._at = name, moments, 0

    def entry(self, _frame: Frame, head: Head, first: int) -> Iterator[Finding]:
        while self._at < len(self._moments) and self._moments[self._at].offset <= head.last_offset:
            moment = self._moments[self._at]
            if moment.offset < first:
                yield self._wrong(f"no entry of the segment holds offset {moment.offset}")
            elif moment.timestamp != head.max_timestamp:
                yield self._wrong(
                    f"{moment.timestamp} is not the newest timestamp where offset {moment.offset} is"
                )
            self._at += 1

    def end(self, _next_offset: int) -> Iterator[Finding]:
        for moment in self._moments[self._at :]:
            yield self._wrong(f"no entry of the segment holds offset {moment.offset}")
            self._at += 1

    def _wrong(self, reason: str) -> Finding:
        return Finding(self._name, Problem(self._at * _MOMENT, reason))


class AbortedTransactions:
    """A `.txnindex` against its segment, which has the marker of each transaction."""

    def __init__(self, name: str, transactions: Sequence[AbortedTxn]) -> None:
        self._name = name
        self._missing = {(each.producer_id, each.last_offset): n for n, each in enumerate(transactions)}

    def entry(self, frame: Frame, head: Head, _first: int) -> Iterator[Finding]:
        if head.is_control:
            entry = frames.entry(frame)
            for record in entry.records if isinstance(entry, Entry) else ():
                if control_type(record) == "abort":
                    self._missing.pop((head.producer_id, record.offset), None)
        return iter(())

    def end(self, _next_offset: int) -> Iterator[Finding]:
        for (producer, offset), number in self._missing.items():
            reason = f"producer {producer} aborted no transaction at offset {offset}"
            yield Finding(self._name, Problem(number * _ABORTED, reason))


class Producers:
    """A `.snapshot` against its log: whoever wrote last there is who the log says, with that sequence."""

    def __init__(self, name: str, upto: int, states: Sequence[ProducerState]) -> None:
        self._name = name
        self._early = [each for each in states if each.last_offset >= upto]
        self._upto = upto
        self._wanted = {each.last_offset: each for each in states if each.last_offset >= 0}

    def entry(self, _frame: Frame, head: Head, _first: int) -> Iterator[Finding]:
        state = self._wanted.get(head.last_offset)
        if state is None or head.is_control:
            return
        there = (head.producer_id, head.producer_epoch, head.last_sequence)
        if there != (state.producer_id, state.epoch, state.last_sequence):
            stated = (state.producer_id, state.epoch, state.last_sequence)
            words = "producer {}, epoch {}, sequence {}"
            reason = f"{words.format(*stated)} at offset {state.last_offset}, where the log has "
            reason += words.format(*there)
            yield Finding(self._name, Problem(0, reason))

    def end(self, _next_offset: int) -> Iterator[Finding]:
        for each in self._early:
            reason = (
                f"producer {each.producer_id} at offset {each.last_offset}, where it tells up to {self._upto}"
            )
            yield Finding(self._name, Problem(0, reason))


class Epochs:
    """A leader-epoch-checkpoint against its log."""

    def __init__(self, name: str, epochs: Sequence[Epoch]) -> None:
        self._name, self._epochs, self._at = name, epochs, -1
        self._told = False

    def entry(self, _frame: Frame, head: Head, first: int) -> Iterator[Finding]:
        if head.leader_epoch < 0:
            return
        start = first if head.base_offset is None else head.base_offset
        while self._at + 1 < len(self._epochs) and self._epochs[self._at + 1].start_offset <= start:
            self._at += 1
        epoch = self._epochs[self._at].epoch if self._at >= 0 else None
        if epoch != head.leader_epoch and not self._told:
            self._told = True
            yield self._wrong(f"epoch {epoch} at offset {start}, where the log has {head.leader_epoch}")

    def end(self, next_offset: int) -> Iterator[Finding]:
        for earlier, later in zip(self._epochs, self._epochs[1:], strict=False):
            if later.epoch <= earlier.epoch or later.start_offset < earlier.start_offset:
                yield self._wrong(f"epoch {later.epoch} from {later.start_offset} follows {earlier.epoch}")
        for each in self._epochs:
            if each.start_offset > next_offset:
                yield self._wrong(f"epoch {each.epoch} begins at {each.start_offset}, behind the log's end")

    def _wrong(self, reason: str) -> Finding:
        return Finding(self._name, Problem(0, reason))
