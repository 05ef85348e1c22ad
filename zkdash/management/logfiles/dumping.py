"""`log dump`: what files hold, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from zkdash.formats.inspection import decoders, dump, verifying
from zkdash.formats.inspection.decoders import Decoder
from zkdash.formats.kafkalog import checkpoints, frames, indexes, producer_snapshots
from zkdash.formats.problems import Problem
from zkdash.logdirs import listing
from zkdash.management.logfiles.report import Options, Report

_LINES: Final = 500  # that are told at once


def dumped(options: Options) -> Iterator[Report]:
    """The files, or the segments of the directories, one after the other."""
    paths = [each for path in options["paths"] for each in _files(path)]
    total = sum(map(listing.file_size, paths))
    for path in paths:
        yield Report() if options["json"] else Report([f"Dumping {path}"])
        if path.suffix in (".log", ".kafka"):
            yield from _segment(path, total, options)
        else:
            yield from _beside(path, is_json=options["json"])


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return [segment for log in listing.logs(path) for segment in log.segments]


def _segment(path: Path, total: int, options: Options) -> Iterator[Report]:
    is_json, is_oldest = options["json"], path.suffix == ".kafka"
    base, source = listing.base_offset(path), listing.source(path)
    written = dump.json if is_json else dump.text
    decoder = _decoder(path, options)
    if not is_json:
        yield Report([f"{'Starting offset' if is_oldest else 'Log starting offset'}: {base}"])
    lines: list[str] = []
    reported = end = 0
    for frame in frames.walk_07(source, base) if is_oldest else frames.walk(source):
        if isinstance(frame, Problem):
            yield Report(lines, (str(path), verifying.told(source, frame)), total=total)
            lines = []
            break
        end = frame.position + frame.size
        for each in written(frame, decoder):
            if not isinstance(each, Problem):
                lines.append(each)
                continue
            yield Report(lines, (str(path), each), total=total)
            lines = []
        if len(lines) >= _LINES:
            yield Report(lines, None, end - reported, total)
            lines, reported = [], end
    if is_oldest and not is_json:
        lines.append(f"tail of the log is at offset: {base + end}")
    elif end < source.size and not is_json:
        lines.append(f"Found {source.size - end} invalid bytes at the end of {path.name}")
    yield Report(lines, None, end - reported, total)


def _decoder(path: Path, options: Options) -> Decoder | None:
    if options["print_data_log"] or options["decoder"]:
        named = options["decoder"]
        topic = path.resolve().parent.name.rpartition("-")[0]
        return decoders.DECODERS[named] if named else decoders.of_topic(topic)
    return decoders.silent if options["deep_iteration"] else None


def _beside(path: Path, *, is_json: bool) -> Iterator[Report]:
    """An index, a snapshot of producers, a checkpoint."""
    data = listing.beside(path) or b""
    rows, problems = _rows(path, data)
    lines = [msgspec.json.encode(row._asdict()).decode() if is_json else words for row, words in rows]
    if not rows and path.suffix == ".index" and not is_json:
        lines = [f"{path} is empty."]
    yield Report(lines, None, len(data))
    if left := listing.unread(path):
        # of an index the begin tells something, of what has a checksum or a number of lines it does not
        problems = [*(problems if path.suffix.endswith("index") else ()), left]
    yield from (Report(finding=(str(path), problem)) for problem in problems)


def _rows(path: Path, data: bytes) -> tuple[list[tuple[Any, str]], list[Problem]]:
    if path.suffix == ".index":
        places, problems = indexes.offset_positions(data, listing.base_offset(path))
        return [(each, dump.place(each)) for each in places], problems
    if path.suffix == ".timeindex":
        moments, problems = indexes.timestamp_offsets(data, listing.base_offset(path))
        return [(each, dump.moment(each)) for each in moments], problems
    if path.suffix == ".txnindex":
        aborted, problems = indexes.aborted(data)
        return [(each, dump.aborted(each)) for each in aborted], problems
    read: list[Any] | Problem
    if path.suffix == ".snapshot":
        read = producer_snapshots.read(data)
        return _unless(read, dump.producer)
    if path.name == listing.EPOCHS:
        read = checkpoints.epochs(data)
        return _unless(read, lambda each: f"epoch: {each.epoch} startOffset: {each.start_offset}")
    if path.name.endswith("-checkpoint"):
        read = checkpoints.offsets(data)
        return _unless(read, lambda each: f"{each.topic}-{each.partition} offset: {each.offset}")
    raise listing.NotThereError(
        f"{path} is no file that is known: name a segment (.log, .kafka), .index, .timeindex, .txnindex, "
        ".snapshot or a checkpoint"
    )


def _unless(
    read: list[Any] | Problem, worded: Callable[[Any], str]
) -> tuple[list[tuple[Any, str]], list[Problem]]:
    return ([], [read]) if isinstance(read, Problem) else ([(each, worded(each)) for each in read], [])
