"""`zktxnlog`: ZooKeeper's transaction logs as rows of the change, one partition a file.

Options: `options.Options`. Schema: `rows.CHANGES`; times are epoch ms, sessions and zxids signed 64 bits.
What two logs hold comes from both, and is taken once by `storage.writing`.

As a stream, an offset is {file: next byte}, behind a whole transaction; a file that the server finished
counts as a whole, and one that grew afterwards is read anew. A half record that ends the newest log is not
read yet, and in others a problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from zkdash.formats.problems import Problem
from zkdash.formats.txnlog import arrow, frames
from zkdash.pipeline.sources import files, options, rows, selection
from zkdash.pipeline.sources.files import Directory, Found
from zkdash.pipeline.sources.options import Options

LOG: Final = re.compile(r"log\.([0-9a-f]{1,16})")
_GONE: Final = "the log is gone: ZooKeeper purged it before it was read to its end"

Offset = dict[str, int]


class LogPart(InputPartition):
    """Bytes `start` to `end` of a log, None where it is gone; `place` is what it is called.

    `is_live`: it is the newest of its directory, to which a server still writes. `number` tells it from
    others that are read with it.
    """

    def __init__(
        self, log: Found | None, place: str, start: int, end: int, *, is_live: bool, number: int
    ) -> None:
        super().__init__((place, start, end))
        self.log, self.place, self.start, self.end = log, place, start, end
        self.is_live, self.number = is_live, number


class TxnLogSource(DataSource):
    """The format `zktxnlog`."""

    @classmethod
    def name(cls) -> str:
        return "zktxnlog"

    def schema(self) -> StructType:
        return from_arrow_schema(rows.CHANGES)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's signature
        return _Batch(options.parse(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's
        return _Stream(options.parse(self.options))


class _Batch(DataSourceReader):
    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        directories = files.listed(self._options.path, LOG).directories
        live = selection.newest(directories)
        return [
            LogPart(log, log.place, 0, log.size, is_live=log.place in live, number=number)
            for number, log in enumerate(_chosen(directories, self._options))
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark hands over a bare partition where there is none
        return _read(partition, self._options) if isinstance(partition, LogPart) else iter(())


class _Stream(DataSourceStreamReader):
    def __init__(self, options: Options) -> None:
        self._options = options

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's
        return {}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: ARG002, N802 - Spark's
        directories = files.listed(self._options.path, LOG).directories
        live = selection.newest(directories)
        return {
            log.place: _whole(log, start.get(log.place, 0)) if log.place in live else log.size
            for log in _chosen(directories, self._options)
        }

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        listed = (log for logs in files.listed(self._options.path, LOG).directories for log in logs)
        logs = {log.place: log for log in listed}
        newest = {place.rpartition("/")[0]: place for place in sorted(end, key=_zxid)}.values()
        parts: list[LogPart] = []
        for place in sorted(end, key=_zxid):
            begin, upto = start.get(place, 0), end[place]
            if upto > begin:
                log, is_live = logs.get(place), place in newest
                if log is not None and begin and not is_live and not _is_whole(log, begin):
                    begin = 0
                parts.append(LogPart(log, place, begin, upto, is_live=is_live, number=len(parts)))
        return parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(partition, self._options)


def _chosen(directories: Iterable[Sequence[Found]], options: Options) -> list[Found]:
    """The logs that are named, else those that may hold what is not left out."""
    if options.files is None:
        return selection.unread_logs(directories, options.skipped)
    return [log for logs in directories for log in logs if log.place in options.files]


def _whole(log: Found, start: int) -> int:
    """Where the last whole transaction ends. One that is being written may show with a wrong checksum."""
    try:
        data = Directory(log.directory).read(log.path, start)
    except OSError:
        return start
    end = start
    for frame in frames.frames(data, base=start):
        if not isinstance(frame, Problem):
            end = start + frame.end + 1
    return end


def _is_whole(log: Found, end: int) -> bool:
    """Whether a transaction ended at this byte, for another one begins there, or nothing.

    It is not so where a log ended amid one when it was read, and was written on to.
    """
    directory = Directory(log.directory)
    try:
        data = directory.read(log.path, end, end + frames.HEAD.size)
        if len(data) < frames.HEAD.size or not any(data):
            return not any(data)
        _, length = frames.HEAD.unpack(data)
        data = directory.read(log.path, end, min(log.size, end + frames.HEAD.size + max(length, 0) + 1))
    except OSError:
        return True  # to read it says so
    return not isinstance(next(frames.frames(data, base=end), None), Problem)


def _zxid(place: str) -> int:
    return int(place.rpartition(".")[2], 16)


def _read(part: Any, options: Options) -> Iterator[pa.RecordBatch]:
    problems: list[Problem] = []
    skipped = options.skipped
    for piece in _pieces(part, options):
        if isinstance(piece, Problem):
            problems.append(piece)
            continue
        problems += piece.problems
        changes = rows.changes(piece.batch, options.chroot, skipped)
        yield rows.noted(changes, rows.CHANGES, part.number)
        yield from rows.covered(piece.batch, skipped, part.number)
    reported = [problem for problem in problems if not (part.is_live and problem.torn)]
    yield from rows.problems(part.place, reported, rows.CHANGES)


def _pieces(part: LogPart, options: Options) -> Iterator[arrow.Piece | Problem]:
    try:
        if part.log is None:
            raise FileNotFoundError(2, _GONE)
        directory = Directory(part.log.directory)
        head = directory.read(part.log.path, 0, frames.HEADER_SIZE)
        data = directory.read(part.log.path, part.start, part.end)
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)
        yield Problem(part.start, _GONE if gone else files.reason(error))
        return
    header = frames.header(head)
    if isinstance(header, Problem):
        yield header
    elif header.dbid != options.dbid:
        yield Problem(
            8, f"a log of another ensemble: its dbid is {header.dbid}, not {options.dbid}: it is left out"
        )
    else:
        yield from arrow.decode(data, rows.REDACTION, base=part.start)
