"""`zktxnlog`: ZooKeeper's transaction logs as rows of the change, one partition a file.

Options: `options.Options`. Schema: `rows.CHANGES`; times are epoch ms, sessions and zxids signed 64 bits.

As a stream, an offset is {file: next byte}, behind a whole transaction; a file that the server finished
counts as a whole. A half record that ends the newest log is not read yet, and in others a problem.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
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
from zkdash.pipeline.sources import files, options, rows
from zkdash.pipeline.sources.files import Directory, Found
from zkdash.pipeline.sources.options import Options

LOG: Final = re.compile(r"log\.([0-9a-f]{1,16})")
_GONE: Final = "the log is gone: ZooKeeper purged it before it was read to its end"

Offset = dict[str, int]


class LogPart(InputPartition):
    """Bytes `start` to `end` of a log. `is_live`: it is the newest, which the server still writes."""

    def __init__(self, path: str, name: str, start: int, end: int, *, is_live: bool) -> None:
        super().__init__((path, start, end))
        self.path, self.name, self.start, self.end, self.is_live = path, name, start, end, is_live


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
        logs = _logs(self._options)
        return [LogPart(log.path, log.name, 0, log.size, is_live=log is logs[-1]) for log in logs]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark hands over a bare partition where there is none
        return _read(partition, self._options) if isinstance(partition, LogPart) else iter(())


class _Stream(DataSourceStreamReader):
    def __init__(self, options: Options) -> None:
        self._options = options

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's
        return {}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: ARG002, N802 - Spark's
        logs = _logs(self._options)
        latest = {log.name: log.size for log in logs[:-1]}
        for live in logs[-1:]:
            latest[live.name] = self._whole(live, start.get(live.name, 0))
        return latest

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        logs = {log.name: log for log in _logs(self._options)}
        newest = max(end, key=_zxid, default="")
        parts = []
        for name, upto in sorted(end.items(), key=lambda item: _zxid(item[0])):
            begin = start.get(name, 0)
            if upto > begin:
                path = logs[name].path if name in logs else ""
                parts.append(LogPart(path, name, begin, upto, is_live=name == newest))
        return parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(partition, self._options)

    def _whole(self, log: Found, start: int) -> int:
        """Where the last whole transaction ends. One that is being written may show with a wrong checksum."""
        try:
            data = Directory(self._options.path).read(log.path, start)
        except OSError:
            return start
        end = start
        for frame in frames.frames(data, base=start):
            if not isinstance(frame, Problem):
                end = start + frame.end + 1
        return end


def _logs(options: Options) -> list[Found]:
    """The logs that may hold transactions after `since`: the next one's name tells where one ends."""
    logs = Directory(options.path).files(LOG)
    return [
        log
        for log, after in itertools.zip_longest(logs, logs[1:])
        if after is None or after.zxid > options.since + 1
    ]


def _zxid(name: str) -> int:
    return int(name.rpartition(".")[2], 16)


def _read(part: Any, options: Options) -> Iterator[pa.RecordBatch]:
    problems: list[Problem] = []
    for piece in _pieces(part, options):
        if isinstance(piece, Problem):
            problems.append(piece)
            continue
        problems += piece.problems
        yield rows.noted(rows.changes(piece.batch, options.chroot, options.since), rows.CHANGES)
        yield from rows.covered(piece.batch, options.since)
    reported = [problem for problem in problems if not (part.is_live and problem.torn)]
    yield from rows.problems(part.name, reported, rows.CHANGES)


def _pieces(part: LogPart, options: Options) -> Iterator[arrow.Piece | Problem]:
    directory = Directory(options.path)
    try:
        if not part.path:
            raise FileNotFoundError(2, _GONE)
        head = directory.read(part.path, 0, frames.HEADER_SIZE)
        data = directory.read(part.path, part.start, part.end)
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
