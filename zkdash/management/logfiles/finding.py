"""`log find`: an offset or a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zkdash.formats.inspection import lookup
from zkdash.formats.kafkalog import frames, indexes
from zkdash.formats.problems import Problem
from zkdash.logdirs import listing
from zkdash.logdirs.listing import Log
from zkdash.management.logfiles.report import Options, Report, row_line


def found(options: Options) -> Iterator[Report]:
    """The entry with an offset, or the first record of a time, in each log."""
    for path in options["paths"]:
        for log in listing.logs(path):
            yield from _found(log, options)


def _found(log: Log, options: Options) -> Iterator[Report]:
    offset, time = options["offset"], options["time"]
    what = f"offset {offset}" if time is None else f"time {time}"
    if log.is_oldest and time is not None:
        changed = [(listing.base_offset(each), each.stat().st_mtime_ns // 1_000_000) for each in log.segments]
        end = listing.base_offset(log.segments[-1]) + listing.file_size(log.segments[-1])
        now = int(datetime.now(UTC).timestamp() * 1000)
        answers = list(lookup.before(changed, end, now, time))
        yield Report([row_line(options, {"log": log.name, "time": time, "offsets": answers})])
        return
    for segment in _candidates(log, offset):
        source, base = listing.source(segment), listing.base_offset(segment)
        location: lookup.Location | frames.Frame | Problem | None
        if log.is_oldest:
            location = lookup.position(source, base, offset)
        else:
            places, _ = indexes.offset_positions(listing.beside(segment.with_suffix(".index")) or b"", base)
            if time is None:
                location = lookup.offset(source, places, offset)
            else:
                moments, _ = indexes.timestamp_offsets(
                    listing.beside(segment.with_suffix(".timeindex")) or b"", base
                )
                location = lookup.time(source, places, moments, time)
        if isinstance(location, Problem):
            yield Report(finding=(str(segment), location))
            return
        if location is not None:
            yield Report([row_line(options, _row(log, segment, location))])
            return
    yield Report(finding=(str(log.directory), Problem(0, f"there is nothing at {what} or behind it")))


def _candidates(log: Log, offset: int | None) -> Sequence[Path]:
    """The segments to look in: from the one on that may hold the offset."""
    if offset is None:
        return log.segments
    first = sum(1 for each in log.segments if listing.base_offset(each) <= offset) - 1
    return log.segments[max(first, 0) :]


def _row(log: Log, segment: Path, location: lookup.Location | frames.Frame) -> dict[str, Any]:
    row: dict[str, Any] = {
        "log": log.name,
        "segment": segment.name,
        "position": location.position,
        "size": location.size,
    }
    if isinstance(location, frames.Frame):
        return row | {"offset": location.offset}
    place = location.place
    row |= {"first_offset": location.first_offset, "last_offset": location.last_offset}
    row |= {
        "index_offset": place and place.offset,
        "index_position": place and place.position,
        "passed": location.passed,
    }
    if location.record:
        row |= {"offset": location.record.offset, "timestamp": location.record.timestamp}
    return row
