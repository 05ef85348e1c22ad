"""What `manage.py log` tells, verb by verb: lines and findings as they come, with how much was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from zkdash.formats.inspection import commits, decoders, dump, finding, verifying
from zkdash.formats.inspection.decoders import Decoder
from zkdash.formats.inspection.recovery import Fate, Settings, What
from zkdash.formats.kafkalog import checkpoints, frames, indexes, producer_snapshots
from zkdash.formats.problems import Problem
from zkdash.logdirs import listing, recovering, verification
from zkdash.logdirs.listing import Log

Options = Mapping[str, Any]

_LINES: Final = 500  # that are told at once
_OFFSETS: Final = "__consumer_offsets"


class Report(NamedTuple):
    """Lines to print; a finding and its file; bytes that were read since the last one, of so many in all."""

    lines: Sequence[str] = ()
    finding: tuple[str, Problem] | None = None
    read: int = 0
    total: int = 0


# --- dump


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
    is_json = options["json"]
    base, source = listing.base_offset(path), listing.source(path)
    is_oldest = path.suffix == ".kafka"
    decoder = _decoder(path, options)
    if not is_json:
        yield Report([f"{'Starting offset' if is_oldest else 'Log starting offset'}: {base}"])
    lines: list[str] = []
    read = end = 0
    for frame in frames.walk_07(source, base) if is_oldest else frames.walk(source):
        if isinstance(frame, Problem):
            yield Report(lines, (str(path), verifying.told(source, frame)), total=total)
            lines = []
            break
        end = frame.position + frame.size
        read += frame.size
        for told in dump.json(frame, decoder) if is_json else dump.text(frame, decoder):
            if isinstance(told, Problem):
                yield Report(lines, (str(path), told), total=total)
                lines = []
            else:
                lines.append(told if isinstance(told, str) else told.decode())
        if not frame.is_valid:
            wrong = Problem(frame.position, "the checksum of an entry does not hold")
            yield Report(lines, (str(path), wrong), read, total)
            lines, read = [], 0
        elif len(lines) >= _LINES:
            yield Report(lines, None, read, total)
            lines, read = [], 0
    if not is_json:
        if is_oldest:
            lines.append(f"tail of the log is at offset: {base + end}")
        elif end < source.size:
            lines.append(f"Found {source.size - end} invalid bytes at the end of {path.name}")
    yield Report(lines, None, read, total)


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
    lines = [msgspec.json.encode(row._asdict()).decode() if is_json else told for row, told in rows]
    if not rows and path.suffix == ".index" and not is_json:
        lines = [f"{path} is empty."]
    yield Report(lines, None, len(data))
    yield from (Report(finding=(str(path), problem)) for problem in problems)


def _rows(path: Path, data: bytes) -> tuple[list[tuple[Any, str]], list[Problem]]:
    if path.suffix == ".index":
        places, problems = indexes.places(data, listing.base_offset(path))
        return [(each, dump.place(each)) for each in places], problems
    if path.suffix == ".timeindex":
        moments, problems = indexes.moments(data, listing.base_offset(path))
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
        f"{path} is no file that is known: name a segment (.log, .kafka), .index, .timeindex, .txnindex, .snapshot "
        "or a checkpoint"
    )


def _unless(
    read: list[Any] | Problem, told: Callable[[Any], str]
) -> tuple[list[tuple[Any, str]], list[Problem]]:
    return ([], [read]) if isinstance(read, Problem) else ([(each, told(each)) for each in read], [])


# --- verify


def verified(options: Options) -> Iterator[Report]:
    """Each log held against what lies beside it."""
    found = [log for path in options["paths"] for log in listing.logs(path)]
    total = sum(log.size for log in found)
    for directory in dict.fromkeys(log.directory.parent for log in found):
        for name, problem in listing.noted(directory).problems:
            yield Report(finding=(str(directory / name), problem))
    for log in found:
        directory = log.directory.parent
        noted, is_live = listing.noted(directory), listing.is_held(directory)
        count = 0
        for each in verification.verify(log, noted, deep=options["deep_iteration"], is_live=is_live):
            if isinstance(each, int):
                yield Report(read=each, total=total)
            else:
                count += 1
                yield Report(finding=(str(directory / each.file), each.problem))
        told = f"{count} finding{'s' * (count != 1)}" if count else "sound"
        running = ", while its broker runs" if is_live else ""
        line = f"{log.name}: {len(log.segments)} segments, {log.size} bytes: {told}{running}"
        if options["json"]:
            row = {"log": log.name, "segments": len(log.segments), "bytes": log.size, "findings": count}
            line = msgspec.json.encode(row).decode()
        yield Report([line])


# --- recover --dry-run


def recovered(options: Options) -> Iterator[Report]:
    """What becomes of each segment that a start would touch."""
    for path in options["paths"]:
        for log in listing.logs(path):
            yield from _fates(log, options)


def _fates(log: Log, options: Options) -> Iterator[Report]:
    directory = log.directory.parent
    release = options["release"] or listing.guessed_release(log)
    settings = Settings(release, options["index_interval_bytes"], options["message_max_bytes"])
    is_clean = options["clean"] or listing.is_clean(directory)
    guessed = "" if options["release"] else ", as its files tell; --release says another"
    stop = "a clean stop" if is_clean else "no clean stop"
    if listing.is_held(directory):
        stop += "; its broker runs, and may cut nothing when it is stopped"
    if not options["json"]:
        yield Report([f"{log.name}: release {release[0]}.{release[1]}{guessed}; {stop}"])
    for fate in recovering.fates(log, listing.noted(directory), settings, is_clean=is_clean):
        suffix = "kafka" if log.is_oldest else "log"
        name = f"{fate.base_offset:020}.{suffix}"
        is_harm = fate.lost > 0 or fate.what in (What.REFUSED, What.SPLIT)
        if options["json"]:
            row = {"log": log.name, "segment": name, "fate": fate.what.name.lower(), "size": fate.size}
            row |= {"kept": fate.kept, "lost": fate.lost, "why": fate.why}
            yield Report([msgspec.json.encode(row).decode()])
        else:
            yield Report([f"  {name}: {_worded(fate)}"])
        if is_harm:
            yield Report(finding=(str(log.directory / name), Problem(fate.kept, _worded(fate))))
    for leftover in log.leftovers():
        if not options["json"]:
            yield Report([f"  {leftover}: left by a deletion or a cleaning, which the start ends"])


def _worded(fate: Fate) -> str:
    told = fate.what.value
    if fate.lost:
        told += f", {fate.kept} of {fate.size} bytes stay and {fate.lost} are lost"
    return f"{told}: {fate.why}" if fate.why else told


# --- find


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
        answers = list(finding.before(changed, end, now, time))
        yield Report([_row(options, {"log": log.name, "time": time, "offsets": answers})])
        return
    for segment in _candidates(log, offset):
        source, base = listing.source(segment), listing.base_offset(segment)
        told: finding.Found | frames.Frame | Problem | None
        if log.is_oldest:
            told = finding.position(source, base, offset)
        else:
            places, _ = indexes.places(listing.beside(segment.with_suffix(".index")) or b"", base)
            if time is None:
                told = finding.offset(source, places, offset)
            else:
                moments, _ = indexes.moments(listing.beside(segment.with_suffix(".timeindex")) or b"", base)
                told = finding.time(source, places, moments, time)
        if isinstance(told, Problem):
            yield Report(finding=(str(segment), told))
            return
        if told is not None:
            yield Report([_row(options, _place(log, segment, told))])
            return
    yield Report(finding=(str(log.directory), Problem(0, f"there is nothing at {what} or behind it")))


def _candidates(log: Log, offset: int | None) -> Sequence[Path]:
    """The segments to look in: from the one on that may hold the offset."""
    if offset is None:
        return log.segments
    first = sum(1 for each in log.segments if listing.base_offset(each) <= offset) - 1
    return log.segments[max(first, 0) :]


def _place(log: Log, segment: Path, told: finding.Found | frames.Frame) -> dict[str, Any]:
    row: dict[str, Any] = {
        "log": log.name,
        "segment": segment.name,
        "position": told.position,
        "size": told.size,
    }
    if isinstance(told, frames.Frame):
        return row | {"offset": told.offset}
    at = told.place
    row |= {"first_offset": told.first_offset, "last_offset": told.last_offset}
    row |= {"index_offset": at and at.offset, "index_position": at and at.position, "passed": told.passed}
    if told.record:
        row |= {"offset": told.record.offset, "timestamp": told.record.timestamp}
    return row


def _row(options: Options, row: dict[str, Any]) -> str:
    if options["json"]:
        return msgspec.json.encode(row).decode()
    return " ".join(f"{name}: {value}" for name, value in row.items())


# --- offsets


def committed(options: Options) -> Iterator[Report]:
    """The last commit of each group, topic and partition in __consumer_offsets."""
    chosen = [log for path in options["paths"] for log in listing.logs(path, _OFFSETS)]
    total = sum(log.size for log in chosen)
    for log in chosen:
        reading = commits.Commits()
        for path in log.segments:
            for frame in frames.walk(source := listing.source(path)):
                if isinstance(frame, Problem):
                    yield Report(finding=(str(path), verifying.told(source, frame)))
                    break
                entry = frames.entry(frame)
                if isinstance(entry, Problem):
                    yield Report(finding=(str(path), entry))
                    continue
                yield from (Report(finding=(str(path), wrong)) for wrong in reading.add(entry))
                yield Report(read=frame.size, total=total)
        yield Report([_row(options, row) for row in _commits(reading, options["group"])])


def _commits(reading: commits.Commits, group: str) -> Iterator[dict[str, Any]]:
    for key, each in sorted(reading.found.items()):
        if group in ("", key.group):
            yield {
                "group": key.group,
                "topic": key.topic,
                "partition": key.partition,
                "offset": each.value.offset,
                "leader_epoch": each.value.leader_epoch,
                "metadata": each.value.metadata,
                "committed": datetime.fromtimestamp(each.value.commit_time / 1000, UTC).isoformat(),
                "record": each.record_offset,
            }


VERBS: Final[dict[str, Callable[[Options], Iterator[Report]]]] = {
    "dump": dumped,
    "verify": verified,
    "recover": recovered,
    "find": found,
    "offsets": committed,
}
