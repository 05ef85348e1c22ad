"""What lies in a broker's log directory: partitions, their segments, and what the broker noted beside them.

Names are kafka.log.LogManager's. A directory may be a running broker's: files grow, and vanish, while they
are read.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from zkdash.formats.inspection.index_rules import Release
from zkdash.formats.kafkalog import checkpoints
from zkdash.formats.kafkalog.frames import Source
from zkdash.formats.problems import Problem

SEGMENT: Final = re.compile(r"(\d{20})\.(log|kafka)")
CLEAN: Final = ".kafka_cleanshutdown"
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
START_OFFSETS: Final = "log-start-offset-checkpoint"
CLEANED: Final = "cleaner-offset-checkpoint"
EPOCHS: Final = "leader-epoch-checkpoint"
_LOCK: Final = ".lock"
_BASE_OFFSET: Final = re.compile(r"([0-9]{1,20})\.")
_LOG: Final = re.compile(r"(.+)-(\d{1,9})")
_LEFTOVERS: Final = (".deleted", ".cleaned", ".swap")
_SNAPSHOT: Final = re.compile(r"[0-9]{1,20}\.snapshot")
_WHOLE: Final = 8 * 3 * 17  # bytes that hold whole entries of each index: of 8, of 12, of 34
# Of a file beside a segment; an index is of 10 MiB, if nobody asks for more (`segment.index.bytes`).
LARGEST_BESIDE: Final = (64 << 20) // _WHOLE * _WHOLE
_FLOCK = struct.Struct("hhqqi4x")


class NotThereError(Exception):
    """A path is not what it should be; the message tells what to name instead."""


class Log(NamedTuple):
    """A partition's directory: its segments by offset, of 0.7 or of later releases."""

    directory: Path
    topic: str
    partition: int
    segments: tuple[Path, ...]

    @property
    def name(self) -> str:
        return self.directory.name

    @property
    def is_oldest(self) -> bool:
        return bool(self.segments) and self.segments[-1].suffix == ".kafka"

    @property
    def size(self) -> int:
        """Bytes of all segments; of one that vanished none."""
        return sum(file_size(path) for path in self.segments)

    def leftovers(self) -> list[str]:
        """Files that a deletion or a cleaning left behind: a broker deletes them, or ends what they began."""
        return sorted(each.name for each in self.directory.iterdir() if each.name.endswith(_LEFTOVERS))


class Noted(NamedTuple):
    """What a broker notes of all logs of a directory, by (topic, partition); and whose line is in no known
    form.
    """

    recovery_points: dict[tuple[str, int], int]
    high_watermarks: dict[tuple[str, int], int]
    starts: dict[tuple[str, int], int]
    cleaned: dict[tuple[str, int], int]
    problems: tuple[tuple[str, Problem], ...]


def logs(path: Path, topic: str = "") -> list[Log]:
    """The logs of a log.dirs directory, of one in it, or of one segment. Raises NotThereError.

    What is being deleted or moved in (`…-delete`, `…-future`) counts only where it is named itself.
    """
    if path.is_file():
        of_file = _log(path.parent, only=path.name)
        if of_file is None:
            raise NotThereError(f"{path} is no segment: name a .log or .kafka file, or a directory of them")
        return [of_file]
    if not path.is_dir():
        raise NotThereError(f"{path} does not exist: name one of Kafka's log.dirs, a log in it, or a segment")
    try:
        here = _log(path)
        below = [] if here else [_log(each) for each in sorted(path.iterdir()) if _LOG.fullmatch(each.name)]
    except PermissionError as error:
        raise NotThereError(f"{error.filename} may not be read by this user") from error
    chosen = [log for log in (here, *below) if log and topic in ("", log.topic)]
    if not chosen:
        of = f" of the topic {topic}" if topic else ""
        raise NotThereError(
            f"{path} holds no log{of}: name one of Kafka's log.dirs, a log in it, or a segment"
        )
    return chosen


def noted(directory: Path) -> Noted:
    """The checkpoints of a log.dirs directory; one that is not there is empty."""
    problems = []

    def read(name: str) -> dict[tuple[str, int], int]:
        data = beside(directory / name)
        entries = [] if data is None else unread(directory / name) or checkpoints.offsets(data)
        if isinstance(entries, Problem):
            problems.append((name, entries))
            return {}
        return {(each.topic, each.partition): each.offset for each in entries}

    points, watermarks = read(RECOVERY_POINTS), read(HIGH_WATERMARKS)
    starts, cleaned = read(START_OFFSETS), read(CLEANED)
    return Noted(points, watermarks, starts, cleaned, tuple(problems))


def is_clean(directory: Path) -> bool:
    """Whether its broker noted that it was stopped cleanly."""
    return (directory / CLEAN).is_file()


def is_held(directory: Path) -> bool:
    """Whether a running broker holds the directory's lock (0.8.1 and later); nothing is locked by asking."""
    try:
        descriptor = os.open(directory / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        question = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind: int = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, question))[0]
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return kind != fcntl.F_UNLCK


def guessed_release(log: Log) -> Release:
    """The oldest release that writes such files: a directory does not tell its broker's."""
    if log.is_oldest:
        return 0, 7
    if (log.directory / "partition.metadata").exists():
        return 3, 9
    if not any(path.with_suffix(".timeindex").exists() for path in log.segments):
        return 0, 8
    has_epochs = (log.directory / EPOCHS).exists() or (log.directory.parent / START_OFFSETS).exists()
    return (1, 1) if has_epochs else (0, 10)


def source(path: Path) -> Source:
    """A file as it is now: what is written to it later is not read. Raises OSError."""
    return Source(partial(_read, path), path.stat().st_size)


def beside(path: Path) -> bytes | None:
    """A file beside a segment, None where it is not there. Raises OSError.

    Of one that is larger than LARGEST_BESIDE the begin: `unread` says whether that is all that counts.
    """
    try:
        return _read(path, 0, LARGEST_BESIDE)
    except FileNotFoundError:
        return None


def unread(path: Path) -> Problem | None:
    """What `beside` left out of a file; None where it left out nothing but zeros, or the file is not there.

    Indexes are allocated ahead as large as they may grow: zeros follow their last entry. Raises OSError.
    """
    size = file_size(path)
    if size <= LARGEST_BESIDE or not any(_read(path, LARGEST_BESIDE, _WHOLE)):
        return None
    return Problem(
        LARGEST_BESIDE,
        f"the file has {size} bytes, and those from here on are not looked at: "
        f"{LARGEST_BESIDE} are, of each file beside a segment",
    )


def snapshots(directory: Path) -> list[Path]:
    """Snapshots of producers by name; what is not named by an offset is no broker's."""
    return sorted(each for each in directory.glob("*.snapshot") if _SNAPSHOT.fullmatch(each.name))


def base_offset(path: Path) -> int:
    """The number in a file's name, of a segment or of what stands beside it. Raises NotThereError."""
    number = _BASE_OFFSET.match(path.name)
    if number is None:
        raise NotThereError(
            f"{path} has no offset for a name, as 00000000000000000000.log has: none of Kafka's"
        )
    return int(number[1])


def file_size(path: Path) -> int:
    """0 where it is not there."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _log(directory: Path, only: str = "") -> Log | None:
    directory = directory.resolve()
    named = _LOG.fullmatch(re.sub(r"\.[0-9a-f]{32}-(delete|future)$", "", directory.name))
    segments = tuple(
        sorted(
            each for each in directory.iterdir() if SEGMENT.fullmatch(each.name) and only in ("", each.name)
        )
    )
    if not segments:
        return None
    topic, partition = (named[1], int(named[2])) if named else (directory.name, -1)
    return Log(directory, topic, partition, segments)


def _read(path: Path, position: int, size: int) -> bytes:
    with path.open("rb", buffering=0) as file:
        file.seek(position)
        pieces = []
        while size > 0 and (piece := file.read(size)):
            pieces.append(piece)
            size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
