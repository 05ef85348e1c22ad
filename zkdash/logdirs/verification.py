"""The files of a log held against each other, and against what its broker noted of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from zkdash.formats.inspection import verifying
from zkdash.formats.inspection.verifying import Check, Finding
from zkdash.formats.kafkalog import checkpoints, frames, indexes, producer_snapshots, segments_07
from zkdash.formats.problems import Problem
from zkdash.logdirs import listing
from zkdash.logdirs.listing import Log, Noted

_GONE: Final = "the file is gone: its broker deleted it while it was looked at"


def verify(log: Log, noted: Noted, *, deep: bool = False, is_live: bool = False) -> Iterator[Finding | int]:
    """What is wrong with a log; between that, how many bytes of its segments were read since the last time.

    `deep`: decode the records of each entry too. `is_live`: a broker writes it, so that its end may be half
    written.
    """
    if log.is_oldest:
        yield from _oldest(log, is_live=is_live)
        return
    whole: list[Check] = []
    for path in listing.snapshots(log.directory):
        yield from _producers(log, path, whole)
    yield from _epochs(log, whole)
    walk = verifying.Log(whole, deep=deep)
    for path in log.segments:
        try:
            checks: list[Check] = []
            yield from _beside(log, path, checks)
            source, name = listing.source(path), f"{log.name}/{path.name}"
            at = 0
            for step in walk.segment(name, source, listing.base_offset(path), checks):
                if isinstance(step, int):
                    yield step - at
                    at = step
                elif not (is_live and step.problem.torn and path == log.segments[-1]):
                    yield step
        except FileNotFoundError as error:
            yield Finding(f"{log.name}/{Path(error.filename).name}", Problem(0, _GONE))
    yield from walk.end()
    if len(log.segments) > 1 or _is_whole(log):
        yield from _noted(log, noted, walk.next_offset)


def _is_whole(log: Log) -> bool:
    """Whether all of a log's segments are looked at, and not one that was named."""
    return sum(1 for each in log.directory.iterdir() if listing.SEGMENT.fullmatch(each.name)) == 1


def _beside(log: Log, path: Path, checks: list[Check]) -> Iterator[Finding]:
    """What the indexes of a segment say against themselves; what is held against the segment is added.

    They are read before it: a broker appends to the segment first.
    """
    base = listing.base_offset(path)
    for suffix in ("index", "timeindex", "txnindex"):
        beside = path.with_suffix(f".{suffix}")
        data = listing.beside(beside)
        name = f"{log.name}/{beside.name}"
        problems: list[Problem] = []
        if data is None:
            if suffix == "index":
                yield Finding(name, Problem(0, "a segment without an index: a broker builds it at its start"))
            continue
        if suffix == "index":
            places, problems = indexes.offset_positions(data, base)
            checks.append(verifying.OffsetIndex(name, places))
        elif suffix == "timeindex":
            moments, problems = indexes.timestamp_offsets(data, base)
            checks.append(verifying.TimeIndex(name, moments))
        else:
            aborted, problems = indexes.aborted(data)
            checks.append(verifying.AbortedTransactions(name, aborted))
        if left := listing.unread(beside):
            problems = [*problems, left]
        yield from (Finding(name, problem) for problem in problems)


def _producers(log: Log, path: Path, whole: list[Check]) -> Iterator[Finding]:
    data, name = listing.beside(path), f"{log.name}/{path.name}"
    if data is None:
        return
    read = listing.unread(path) or producer_snapshots.read(data)
    if isinstance(read, Problem):
        yield Finding(name, read)
    else:
        whole.append(verifying.Producers(name, listing.base_offset(path), read))


def _epochs(log: Log, whole: list[Check]) -> Iterator[Finding]:
    path, name = log.directory / listing.EPOCHS, f"{log.name}/{listing.EPOCHS}"
    data = listing.beside(path)
    if data is None:
        return
    read = listing.unread(path) or checkpoints.epochs(data)
    if isinstance(read, Problem):
        yield Finding(name, read)
    else:
        whole.append(verifying.Epochs(name, read))


def _noted(log: Log, noted: Noted, end: int) -> Iterator[Finding]:
    """Checkpoints that are not within the log; `end` is the offset that the next message would have."""
    whose = log.topic, log.partition
    for name, offsets in (
        (listing.RECOVERY_POINTS, noted.recovery_points),
        (listing.HIGH_WATERMARKS, noted.high_watermarks),
        (listing.START_OFFSETS, noted.starts),
        (listing.CLEANED, noted.cleaned),
    ):
        if offsets.get(whose, 0) > end:
            reason = f"{log.name} is at {offsets[whose]}, and its log ends at {end}"
            yield Finding(name, Problem(0, reason))


def _oldest(log: Log, *, is_live: bool) -> Iterator[Finding | int]:
    """A log of 0.7: each segment is named by the byte at which it begins."""
    upto: int | None = None
    for path in log.segments:
        base, name = listing.base_offset(path), f"{log.name}/{path.name}"
        try:
            source = listing.source(path)
        except FileNotFoundError:
            yield Finding(name, Problem(0, _GONE))
            upto = None
            continue
        if upto not in (None, base):
            yield Finding(name, Problem(0, f"it begins at {base}, and the one before it ends at {upto}"))
        upto = base + source.size
        for frame in frames.walk_07(source, base):
            if isinstance(frame, Problem):
                if not (is_live and frame.torn and path == log.segments[-1]):
                    yield Finding(name, _following_07(source, frame))
                break
            if not frame.is_valid:
                yield Finding(name, Problem(frame.position, "the checksum of a message does not hold"))
            yield frame.size


def _following_07(source: frames.Source, problem: Problem) -> Problem:
    if problem.torn:
        return problem._replace(reason=f"{problem.reason}: {source.size - problem.offset} bytes are left")
    distance = segments_07.following(source.read(problem.offset, frames.WINDOW))
    if distance is None:
        return problem._replace(reason=f"{problem.reason}; no whole message follows near it")
    return problem._replace(
        reason=f"{problem.reason}; a whole message follows at byte {problem.offset + distance}"
    )
