"""Kafka's log directories: which segments there are, and which of them a broker would recover at its start.

Names are kafka.log.LogManager's: a directory topic-partition a log, segments named by their first offset.
A broker that was not stopped cleanly reads its segments from the recovery point on, cuts the log at the first
entry that is not whole, and deletes what follows; 0.7 does so with its newest segment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from pyarrow import fs

from zkdash.formats.kafkalog import checkpoints
from zkdash.formats.kafkalog.frames import Source
from zkdash.formats.problems import Problem
from zkdash.pipeline.sources import files

_LOG: Final = re.compile(r"(.+)-(\d{1,9})(?:\.[0-9a-f]{32}-(?:delete|future))?")
_SEGMENT: Final = re.compile(r"(\d{20})\.(log|kafka)")
_CLEAN: Final = ".kafka_cleanshutdown"
_META: Final = "meta.properties"
_BROKER: Final = ("broker.id", "node.id")
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
START_OFFSETS: Final = "log-start-offset-checkpoint"
CLEANED: Final = "cleaner-offset-checkpoint"
OLDEST: Final = "kafka"


class Segment(NamedTuple):
    """A segment: its place and its name below the log directory, whose it is, its first offset, its bytes and
    when it was changed (epoch ms)."""

    path: str
    name: str
    topic: str
    partition: int
    base_offset: int
    size: int
    kind: str
    changed_ms: int = 0


class Log(NamedTuple):
    """A partition's segments by offset, and how many of the first ones a broker would take as they are."""

    segments: tuple[Segment, ...]
    trusted: int


class LogDirectory:
    """A log.dirs directory, the directory of one partition in it, or one segment."""

    def __init__(self, path: str) -> None:
        self._given = path
        self._system, self._path = files.opened(path.rstrip("/") or path)
        self._recovery: dict[str, tuple[bool, dict[tuple[str, int], int]]] = {}

    def logs(self, topic: str = "") -> list[Log]:
        """Its logs, of one topic where it is named. Raises FileNotFoundError.

        Directories of logs that are to be deleted, or moved in, are left out unless one is named itself.
        """
        info = self._system.get_file_info(self._path)
        if info.type == fs.FileType.File:
            directory, _, name = self._path.rpartition("/")
            logs = [self._log(directory, only=name)]
        elif info.type != fs.FileType.Directory:
            raise FileNotFoundError(
                f"{self._given} does not exist: name one of Kafka's log.dirs, a log in it, or a segment"
            )
        else:
            logs = [self._log(self._path), *self._below(topic)]
        return [log for log in logs if log.segments and topic in ("", log.segments[0].topic)]

    def broker(self) -> int | None:
        """The id in its meta.properties (0.8.2 and later), None where there is none. Raises OSError."""
        data = self._beside(f"{self._path}/{_META}")
        named = checkpoints.properties(data) if data is not None else {}
        ids = (named[name] for name in _BROKER if named.get(name, "").isdecimal())
        return next((int(each) for each in ids), None)

    def checkpoint(self, name: str) -> dict[tuple[str, int], int]:
        """What its broker noted of its logs, by topic and partition; nothing where that cannot be read.

        Raises OSError.
        """
        return self._noted(self._path, name)

    @contextmanager
    def opened(self, segment: Segment) -> Iterator[Source]:
        """A segment as it was when it was listed, to be read in pieces. Raises OSError."""
        with self._system.open_input_file(segment.path) as file:
            yield Source(lambda position, size: file.read_at(size, position), segment.size)

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        """Bytes of a file. Raises OSError."""
        with self._system.open_input_file(path) as file:
            if start:
                file.seek(start)
            data: bytes = file.read() if end is None else file.read(end - start)
            return data

    def beside(self, segment: Segment, suffix: str) -> bytes | None:
        """A file of a segment's name with another suffix, None where there is none. Raises OSError."""
        return self._beside(f"{segment.path.rpartition('.')[0]}.{suffix}")

    def _beside(self, path: str) -> bytes | None:
        exists = self._system.get_file_info(path).type == fs.FileType.File
        return self.read(path) if exists else None

    def _noted(self, directory: str, name: str) -> dict[tuple[str, int], int]:
        data = self._beside(f"{directory}/{name}")
        read = checkpoints.offsets(data) if data is not None else []
        return (
            {} if isinstance(read, Problem) else {(each.topic, each.partition): each.offset for each in read}
        )

    def _below(self, topic: str) -> Iterator[Log]:
        listed = self._system.get_file_info(fs.FileSelector(self._path))
        for each in sorted(listed, key=lambda info: info.base_name):
            match = _LOG.fullmatch(each.base_name)
            if (
                match
                and topic in ("", match[1])
                and each.type == fs.FileType.Directory
                and not each.base_name.endswith(("delete", "future"))
            ):
                yield self._log(each.path)

    def _log(self, directory: str, only: str = "") -> Log:
        above, _, name = directory.rpartition("/")
        named = _LOG.fullmatch(name)
        if named is None:
            return Log((), 0)
        topic, partition = named[1], int(named[2])
        segments = []
        for each in self._system.get_file_info(fs.FileSelector(directory)):
            match = _SEGMENT.fullmatch(each.base_name)
            if match and only in ("", each.base_name):
                place = each.path, f"{name}/{each.base_name}", topic, partition
                changed_ms = (each.mtime_ns or 0) // 1_000_000
                segments.append(Segment(*place, int(match[1]), each.size or 0, match[2], changed_ms))
        segments.sort(key=lambda segment: segment.base_offset)
        return Log(tuple(segments), len(segments) if only else self._trusted(above, segments))

    def _trusted(self, above: str, segments: list[Segment]) -> int:
        if above not in self._recovery:
            is_clean = self._system.get_file_info(f"{above}/{_CLEAN}").type == fs.FileType.File
            self._recovery[above] = is_clean, {} if is_clean else self._noted(above, RECOVERY_POINTS)
        is_clean, points = self._recovery[above]
        if is_clean or not segments:
            return len(segments)
        if segments[-1].kind == OLDEST:
            return len(segments) - 1
        point = points.get((segments[0].topic, segments[0].partition), 0)
        # the segment that holds the recovery point is the first to be recovered
        return max(sum(1 for segment in segments if segment.base_offset <= point) - 1, 0)
