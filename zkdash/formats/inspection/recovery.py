"""What a broker would do to a log when it starts: which segments it reads anew, and what it cuts off.

0.7 reads its newest segment, up to the first message whose size or checksum is wrong (document 002,
kafka.log.Log.recover). From 0.8 on every segment from the recovery point on is read anew after an unclean
stop, and each whose index is not what it should be after any; a cut deletes what follows it
(kafka.log.Log.recoverLog, LogLoader.recoverLog, LogSegment.recover). While a segment is read, its indexes are
built: offsets that do not rise there empty the segment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from zkdash.formats.inspection import index_rules
from zkdash.formats.inspection.index_rules import BATCHES, OVERFLOW, Building, FallingError, Settings
from zkdash.formats.kafkalog import frames, indexes, messages
from zkdash.formats.kafkalog.frames import Frame, Source
from zkdash.formats.problems import Problem

_UNREFUSED: Final = (0, 9)  # an index that is wrong is built anew; 0.8 does not start
_LAZY: Final = (2, 4)  # indexes are no longer looked at (KAFKA-7283)
_START: Final = (2, 1)  # a log that ends before its start is deleted
_ENTRY_HEAD: Final = 17  # bytes of an entry up to its magic
_REACH: Final = 2**31 - 1  # offsets of a segment behind its first one


class Segment(NamedTuple):
    """A segment and what stands beside it; None where there is no such file."""

    base_offset: int
    source: Source
    offset_index: Source | None = None
    time_index: Source | None = None
    aborted: bytes | None = None


class LogState(NamedTuple):
    """What the directory says of a log: whether its broker was stopped cleanly, its checkpoints, and up to
    which offsets there are snapshots of producers."""

    is_clean: bool
    recovery_point: int = 0
    start: int = 0
    snapshots: tuple[int, ...] = ()


class What(Enum):
    """What becomes of a segment."""

    KEPT = "kept"
    READ = "read anew, and whole"
    CUT = "cut"
    EMPTIED = "emptied"
    DELETED = "deleted"
    SPLIT = "split"
    REFUSED = "the broker does not start"


class Fate(NamedTuple):
    """What becomes of a segment: `kept` of its `size` bytes, and why."""

    base_offset: int
    what: What
    size: int
    kept: int
    why: str = ""

    @property
    def lost(self) -> int:
        return self.size - self.kept


class _Scan(NamedTuple):
    """A segment that was read anew: the bytes that stay, the offset behind them, and what ended it."""

    what: What
    kept: int
    next_offset: int
    why: str = ""


def log(segments: Sequence[Segment], state: LogState, settings: Settings) -> Iterator[Fate]:
    """What becomes of the segments of 0.8 or later, in their order."""
    from_here = _first(segments, state)
    cut_at, end = None, 0
    fates: list[Fate] = []
    known_upto = 0  # where a segment was read anew, the broker knows producers from there
    for number, each in enumerate(segments):
        size = each.source.size
        is_read = number >= from_here and not state.is_clean
        before = _load(each, settings, is_read=is_read)
        if before and before.what is What.REFUSED:
            yield Fate(each.base_offset, What.REFUSED, size, size, before.why)
            return
        if cut_at is not None:
            why = f"it follows segment {cut_at}, which is cut"
            fates.append(Fate(each.base_offset, What.DELETED, size, 0, why))
        elif before is None and not is_read:
            fates.append(Fate(each.base_offset, What.KEPT, size, size))
            end = max(end, each.base_offset)
        else:
            if wrong := _unreadable(segments[:number], each.base_offset, known_upto, state, settings):
                yield Fate(each.base_offset, What.REFUSED, size, size, wrong)
                return
            scan = before or _recovered(each, settings)
            end = known_upto = scan.next_offset
            fates.append(Fate(each.base_offset, scan.what, size, scan.kept, scan.why))
            # what was cut before is whole when it is recovered: what follows it stays
            if scan.kept < size and before is None:
                cut_at = each.base_offset
    if settings.release >= _START and not state.is_clean and fates and end < state.start:
        why = f"the log would end at offset {end}, before its start {state.start}"
        fates = [Fate(each.base_offset, What.DELETED, each.size, 0, why) for each in fates]
    yield from fates


def oldest(segments: Sequence[Segment], state: LogState) -> Iterator[Fate]:
    """What becomes of the segments of 0.7, in their order."""
    for number, each in enumerate(segments):
        size = each.source.size
        if number + 1 < len(segments):
            following = segments[number + 1].base_offset
            if each.base_offset + size != following:
                why = f"it ends at {each.base_offset + size}, and the next one begins at {following}"
                yield Fate(each.base_offset, What.REFUSED, size, size, why)
                return
            yield Fate(each.base_offset, What.KEPT, size, size)
        elif state.is_clean:
            yield Fate(each.base_offset, What.KEPT, size, size)
        else:
            kept, why = 0, ""
            for frame in frames.walk_07(each.source, each.base_offset):
                why = _wrong(frame)
                if why or isinstance(frame, Problem):
                    break
                kept = frame.position + frame.size
            yield Fate(each.base_offset, What.CUT if kept < size else What.READ, size, kept, why)


def _first(segments: Sequence[Segment], state: LogState) -> int:
    """The number of the segment that holds the recovery point."""
    return max(sum(1 for each in segments if each.base_offset <= state.recovery_point) - 1, 0)


def _unreadable(
    earlier: Sequence[Segment], base_offset: int, known_upto: int, state: LogState, settings: Settings
) -> str:
    """Why a broker could not read what producers wrote before a segment, from their last snapshot on."""
    if settings.release < BATCHES:
        return ""
    upto = max([known_upto, *(each for each in state.snapshots if state.start < each <= base_offset)])
    ends = [each.base_offset for each in earlier[1:]] + [base_offset]
    for each, end in zip(earlier, ends, strict=False):
        for frame in frames.walk(each.source) if end > upto else ():
            if isinstance(frame, Problem) and _is_nonsense(each.source, frame):
                return f"for its producers segment {each.base_offset} is read: {_wrong(frame)}"
    return ""


def _is_nonsense(source: Source, problem: Problem) -> bool:
    """Whether a broker finds no end there, but an entry that is too small, zeros among them."""
    size = int.from_bytes(source.read(problem.offset + 8, 4), "big", signed=True)
    return source.size - problem.offset > _ENTRY_HEAD and size < messages.LEAST


def _load(segment: Segment, settings: Settings, *, is_read: bool) -> _Scan | None:
    """What is read anew before anything is recovered: what lies beside the segment is wrong."""
    if segment.offset_index is None:
        return _because("its index is not there", segment, settings)
    wrong = (
        ""
        if settings.release >= _LAZY
        else index_rules.insane(segment.offset_index, segment.time_index, settings)
    )
    if settings.release >= BATCHES and segment.aborted is not None:
        transactions, _ = indexes.aborted(segment.aborted)
        if any(each.last_offset < segment.base_offset for each in transactions):
            wrong = "its index of aborted transactions begins before it"
    if not wrong:
        return None
    if settings.release < _UNREFUSED:
        return None if is_read else _Scan(What.REFUSED, segment.source.size, segment.base_offset, wrong)
    return _because(wrong, segment, settings)


def _because(wrong: str, segment: Segment, settings: Settings) -> _Scan:
    try:
        scan = _scan(segment, settings)
    except FallingError as falling:  # which nothing catches there
        return _Scan(
            What.REFUSED, segment.source.size, segment.base_offset, f"{wrong}, and cannot be built: {falling}"
        )
    return scan._replace(why=f"{wrong}; {scan.why}" if scan.why else wrong)


def _recovered(segment: Segment, settings: Settings) -> _Scan:
    """A segment behind the recovery point."""
    try:
        return _scan(segment, settings)
    except FallingError as falling:
        return _emptied(segment, str(falling))


def _scan(segment: Segment, settings: Settings) -> _Scan:
    """LogSegment.recover: the entries as they are, and the indexes as they are built of them.

    Raises FallingError.
    """
    built = Building(segment.base_offset, settings)
    kept, end = 0, segment.base_offset
    why = ""
    for frame in frames.walk(segment.source):
        why = _wrong(frame, settings)
        if why or isinstance(frame, Problem):
            break
        head = frames.head(frame)
        if head is None:
            why = f"at byte {frame.position} an entry that is too large to be read"
            break
        if settings.release >= OVERFLOW and not 0 <= head.last_offset - segment.base_offset <= _REACH:
            reason = f"at byte {frame.position} offset {head.last_offset} is too far from the segment's first"
            return _Scan(What.SPLIT, segment.source.size, end, reason)
        built.add(frame, head)
        kept, end = frame.position + frame.size, head.last_offset + 1
    built.close()
    return _Scan(What.CUT if kept < segment.source.size else What.READ, kept, end, why)


def _wrong(frame: Frame | Problem, settings: Settings | None = None) -> str:
    """Why a broker takes no more from here on; "" where it does."""
    if isinstance(frame, Problem):
        return f"at byte {frame.offset} {frame.reason}"
    if not frame.is_valid:
        return f"at byte {frame.position} the checksum of an entry does not hold"
    if settings and settings.release < BATCHES and frame.size - 12 > settings.largest:
        most = f"message.max.bytes is {settings.largest}"
        return f"at byte {frame.position} a message of {frame.size - 12} bytes: {most}"
    return ""


def _emptied(segment: Segment, why: str) -> _Scan:
    """The segment is cut before the first entry that ends at its first offset or behind it."""
    for frame in frames.walk(segment.source):
        if isinstance(frame, Problem):
            break
        head = frames.head(frame)
        if head and head.last_offset >= segment.base_offset:
            what = What.EMPTIED if not frame.position else What.CUT
            return _Scan(what, frame.position, segment.base_offset, why)
    return _Scan(What.READ, segment.source.size, segment.base_offset, why)
