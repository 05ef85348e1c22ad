"""`kafkalog`: Kafka's log segments of all formats as rows of messages, one partition a segment.

Options: path (a log.dirs directory, a log in it, or a segment) and topic ("" for all). Schema: `SCHEMA`, that
is `formats.kafkalog.arrow` with topic, partition and file; or a problem, and all else null.

What a broker would cut off when it recovers a log is left out, and told. Indexes are held against their
segments. As a stream, an offset is {file: next byte}, behind a whole entry, and nothing is recovered: the
broker still writes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

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

from zkdash.formats.kafkalog import arrow, indexes, segment, segments_07
from zkdash.formats.kafkalog.entries import Entry
from zkdash.formats.problems import Problem
from zkdash.pipeline.sources import files, rows
from zkdash.pipeline.sources.segments import OLDEST, Log, LogDirectory, Segment

_OF: Final = [
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("file", pa.string()),
]
SCHEMA: Final = pa.schema([*_OF, *arrow.SCHEMA, pa.field("problem", rows.PROBLEM)])
_GONE: Final = "the segment is gone: its broker deleted it before it was read to its end"

Offset = dict[str, int]


class Options(NamedTuple):
    """path: what to read. topic: only this one, "" for all."""

    path: str
    topic: str = ""


class SegmentPart(InputPartition):
    """Bytes `start` to `end` of segments of one log, one after the other; `next_base` is what follows them.

    `recovers`: the broker would cut the log at the first entry that is not whole. `checks`: hold indexes
    against them. `is_live`: the last one is being written.
    """

    def __init__(
        self,
        segments: tuple[Segment, ...],
        *,
        start: int = 0,
        end: int | None = None,
        next_base: int | None = None,
        recovers: bool = False,
        checks: bool = False,
        is_live: bool = False,
    ) -> None:
        super().__init__((segments, start, end))
        self.segments, self.start, self.end, self.next_base = segments, start, end, next_base
        self.recovers, self.checks, self.is_live = recovers, checks, is_live


class KafkaLogSource(DataSource):
    """The format `kafkalog`."""

    @classmethod
    def name(cls) -> str:
        return "kafkalog"

    def schema(self) -> StructType:
        return from_arrow_schema(SCHEMA)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's signature
        return _Batch(parse(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's
        return _Stream(parse(self.options))


def parse(given: Mapping[str, str]) -> Options:
    """Raises ValueError, which names the option."""
    options = {name.lower(): value for name, value in given.items()}
    unknown = options.keys() - set(Options._fields)
    if unknown:
        raise ValueError(f"there is no option {min(unknown)!r}; there are {', '.join(Options._fields)}")
    if not options.get("path"):
        raise ValueError("the option 'path' is missing: name one of Kafka's log.dirs")
    return Options(options["path"], options.get("topic", ""))


class _Batch(DataSourceReader):
    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        logs = LogDirectory(self._options.path).logs(self._options.topic)
        return [part for log in logs for part in _parts(log)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark hands over a bare partition where there is none
        return _read(partition, self._options) if isinstance(partition, SegmentPart) else iter(())


class _Stream(DataSourceStreamReader):
    def __init__(self, options: Options) -> None:
        self._options = options

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's
        return {}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: ARG002, N802 - Spark's
        directory = LogDirectory(self._options.path)
        latest: Offset = {}
        for log in directory.logs(self._options.topic):
            latest |= {each.name: each.size for each in log.segments[:-1]}
            live = log.segments[-1]
            latest[live.name] = _whole(directory, live, start.get(live.name, 0))
        return latest

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        logs = LogDirectory(self._options.path).logs(self._options.topic)
        segments = {each.name: each for log in logs for each in log.segments}
        live = {log.segments[-1].name for log in logs}
        parts = []
        for name, upto in sorted(end.items()):
            begin = start.get(name, 0)
            if upto > begin:
                segment = segments.get(name) or Segment("", name, "", 0, 0, 0, "")
                parts.append(SegmentPart((segment,), start=begin, end=upto, is_live=name in live))
        return parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark hands over a bare partition where there is none
        return _read(partition, self._options) if isinstance(partition, SegmentPart) else iter(())


def _parts(log: Log) -> Iterator[SegmentPart]:
    """Each segment by itself, but those together that a broker would recover, where one tells of the next."""
    bases = [each.base_offset for each in log.segments[1:]]
    for each, after in itertools.zip_longest(log.segments[: log.trusted], bases[: log.trusted]):
        yield SegmentPart((each,), next_base=after, checks=True)
    if log.trusted < len(log.segments):
        yield SegmentPart(log.segments[log.trusted :], recovers=True, checks=True)


def _whole(directory: LogDirectory, live: Segment, start: int) -> int:
    """Where the last whole entry ends."""
    try:
        data = directory.read(live.path, start)
    except OSError:
        return start
    ends = (each.position + each.size for each in _decode(live, data, start) if isinstance(each, Entry))
    return max(ends, default=start)


def _read(part: Any, options: Options) -> Iterator[pa.RecordBatch]:
    directory = LogDirectory(options.path)
    is_cut = False
    for number, each in enumerate(part.segments):
        if is_cut:
            reason = "its broker would delete this segment: an earlier one of the log is not whole"
            yield from _problems(each.name, [Problem(0, reason)])
            continue
        try:
            if not each.path:
                raise FileNotFoundError(2, _GONE)
            data = directory.read(each.path, part.start, part.end)
        except OSError as error:
            gone = isinstance(error, FileNotFoundError)
            yield from _problems(each.name, [Problem(part.start, _GONE if gone else files.reason(error))])
            continue
        left: list[Problem] = []
        if part.recovers:
            data, left = _recovered(each, data)
            is_cut = bool(left)
        after = part.segments[number + 1].base_offset if number + 1 < len(part.segments) else part.next_base
        problems: list[Problem] = []
        entries: list[Entry] = []
        yield from _rows(each, _noted(_decode(each, data, part.start), entries, problems))
        if part.is_live:
            problems = [problem for problem in problems if not problem.torn]
        yield from _problems(each.name, [*problems, *_misnamed(each, entries, after), *left])
        if part.checks:
            yield from _checked(directory, each, entries)


def _decode(each: Segment, data: bytes, base: int) -> Iterator[Entry | Problem]:
    """What a segment holds from byte `base` on; positions are the file's."""
    if each.kind != OLDEST:
        yield from segment.decode(data, base=base)
        return
    for item in segments_07.decode(data, base=each.base_offset + base):
        if isinstance(item, Problem):
            yield item._replace(offset=item.offset - each.base_offset)
        else:
            yield item._replace(position=item.position - each.base_offset)


def _noted(
    items: Iterable[Entry | Problem], entries: list[Entry], problems: list[Problem]
) -> Iterator[Entry | Problem]:
    """What was found; noted without its records, but for the one record of a marker (KIP-98)."""
    for item in items:
        if isinstance(item, Problem):
            problems.append(item)
        else:
            is_control = item.producer is not None and item.producer.is_control
            entries.append(item._replace(records=item.records[:1] if is_control else ()))
        yield item


def _recovered(each: Segment, data: bytes) -> tuple[bytes, list[Problem]]:
    """What a broker keeps of a segment."""
    kept = (segments_07 if each.kind == OLDEST else segment).whole_bytes(data)
    if kept == len(data) or not any(data[kept:]):
        return data, []
    reason = f"its broker would cut off {len(data) - kept} bytes from here on, which are not whole"
    return data[:kept], [Problem(kept, reason, torn=True)]


def _misnamed(each: Segment, entries: Sequence[Entry], after: int | None) -> Iterator[Problem]:
    """Entries that the names of the segment and of the next one contradict."""
    if entries and entries[0].base_offset < each.base_offset:
        misfit = f"offset {entries[0].base_offset} in a segment that begins with {each.base_offset}"
        yield Problem(entries[0].position, misfit)
    if entries and after is not None and each.kind != OLDEST and entries[-1].last_offset >= after:
        misfit = f"offset {entries[-1].last_offset} before a segment that begins with {after}"
        yield Problem(entries[-1].position, misfit)


def _checked(directory: LogDirectory, each: Segment, entries: Sequence[Entry]) -> Iterator[pa.RecordBatch]:
    """What is wrong with the indexes beside a segment."""
    name = each.name.rpartition(".")[0]
    try:
        if (data := directory.beside(each, "index")) is not None:
            places, problems = indexes.offset_positions(data, each.base_offset)
            yield from _problems(f"{name}.index", [*problems, *indexes.misplaced(places, entries)])
        if (data := directory.beside(each, "timeindex")) is not None:
            moments, problems = indexes.timestamp_offsets(data, each.base_offset)
            yield from _problems(f"{name}.timeindex", [*problems, *indexes.mistimed(moments, entries)])
        if (data := directory.beside(each, "txnindex")) is not None:
            aborted, problems = indexes.aborted(data)
            yield from _problems(f"{name}.txnindex", [*problems, *indexes.unmarked(aborted, entries)])
    except OSError as error:
        yield from _problems(f"{name}.index", [Problem(0, files.reason(error))])


def _rows(each: Segment, items: Iterable[Entry | Problem]) -> Iterator[pa.RecordBatch]:
    for piece in arrow.pieces(items):
        count = piece.batch.num_rows
        of = [
            pa.repeat(pa.scalar(each.topic, pa.string()), count),
            pa.repeat(pa.scalar(each.partition, pa.int32()), count),
            pa.repeat(pa.scalar(each.name, pa.string()), count),
        ]
        yield pa.RecordBatch.from_arrays(
            [*of, *piece.batch.columns, pa.nulls(count, rows.PROBLEM)], schema=SCHEMA
        )


def _problems(name: str, problems: Iterable[Problem]) -> Iterator[pa.RecordBatch]:
    return rows.problems(name, problems, SCHEMA)
