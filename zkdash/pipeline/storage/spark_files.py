"""Rows of Spark into files of a table, and files of a table into rows of Spark.

Spark's own reader and writer reach a file system that driver and executors share, and HDFS. What an object
store keeps, Python reads and writes in the executors, by the library that reaches tables everywhere else too:
no jar of Hadoop's is needed there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from functools import partial, reduce
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from zkdash.history.places.location import Location, Remote
from zkdash.history.store import files
from zkdash.history.store.delta import DATA, DAY, File, Table

HOUR: Final = "hour"  # by which rows of a day are written apart where they tell it; no column of a table
BY: Final = (DAY, HOUR)  # none of them is in a file
MOST_ROWS_A_FILE: Final = 5_000_000
_MARKS: Final = "mapreduce.fileoutputcommitter.marksuccessfuljobs"  # by a file that nobody would delete
# A row group: what a reader takes at once. The less, the more of a file it can leave out.
_GROUP_ROWS: Final = 250_000
_GROUP_BYTES: Final = 64 << 20
_BATCH: Final = 10_000  # rows, as Spark's own batches
_DECODER: Final = msgspec.json.Decoder(File)
_LISTED: Final = pa.schema({"file": pa.binary()})


def is_reached(location: Location) -> bool:
    """Whether Spark itself reads and writes there."""
    return isinstance(location, Path) or location.is_hdfs


def read(spark: SparkSession, table: Table, schema: pa.Schema, listed: Iterable[File]) -> DataFrame:
    """Rows of these files of a table."""
    kind, paths = from_arrow_schema(schema), [file.path for file in listed]
    if not paths:
        return spark.createDataFrame([], kind)
    location = table.location
    if is_reached(location):
        return spark.read.schema(kind).parquet(*(_address(location, path) for path in paths))
    assert isinstance(location, Remote)  # noqa: S101 - for the type
    some = spark.createDataFrame([(path,) for path in paths], "path string")
    return some.mapInArrow(partial(_read, location.url, location.options, schema), kind)


def write(rows: DataFrame, table: Table) -> list[File]:
    """Files of the rows, yet to be listed; by each of BY that they tell, and then they come in its order.

    They are listed by their day alone.
    """
    return [_of_its_day(file) for file in _written(rows, table)]


def _written(rows: DataFrame, table: Table) -> list[File]:
    directory = table.staging()
    if is_reached(directory):
        writer = rows.write.options(maxRecordsPerFile=MOST_ROWS_A_FILE, **{_MARKS: False})
        by = [name for name in BY if name in rows.columns]
        (writer.partitionBy(*by) if by else writer).parquet(_address(directory))
        return files.written(table, directory)
    location = table.location
    assert isinstance(location, Remote)  # noqa: S101 - as above
    run = f"{DATA}/{directory.name}"
    made = rows.mapInArrow(partial(_write, location.url, location.options, run), from_arrow_schema(_LISTED))
    # A task that was tried again, or twice at once, left files that nobody lists.
    return [_DECODER.decode(row.file) for row in made.collect()]


def _of_its_day(file: File) -> File:
    partition = {name: value for name, value in file.partition.items() if name != HOUR}
    return msgspec.structs.replace(file, partition=partition)


def _address(location: Location, path: str = "") -> str:
    place = location / path if path else location
    return f"file://{place.absolute()}" if isinstance(place, Path) else place.url


# --- in the executors


def _read(
    url: str, options: Mapping[str, str], schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    store = _store(url, options)
    for batch in batches:
        for path in batch.column("path").to_pylist():
            with store.open_input_file(path) as stream:
                file = pq.ParquetFile(stream)
                names = [name for name in schema.names if name in file.schema_arrow.names]
                for part in file.iter_batches(_BATCH, columns=names):
                    yield _as(part, schema)


def _as(part: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """With the columns of a schema; of those that a file has not yet, nothing is known."""
    columns = [
        part.column(field.name).cast(field.type)
        if field.name in part.schema.names
        else pa.nulls(part.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _write(
    url: str, options: Mapping[str, str], run: str, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    writer = _Writer(_store(url, options), run)
    for batch in batches:
        for place, rows in _apart(batch):
            writer.add(place, rows)
    made = [msgspec.json.encode(file) for file in writer.end()]
    if made:
        yield pa.RecordBatch.from_arrays([pa.array(made, pa.binary())], schema=_LISTED)


def _apart(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Table]]:
    """The rows that lie together, by the names of the directories that tell of them, as they come."""
    rows = pa.Table.from_batches([batch])
    by = [name for name in BY if name in rows.column_names]
    if not by:
        yield "", rows
        return
    values = rows.select(by)
    for each in values.group_by(by, use_threads=False).aggregate([]).to_pylist():
        chosen = [pc.equal(values[name], pa.scalar(each[name], values[name].type)) for name in by]
        place = "/".join(f"{name}={each[name]}" for name in by)
        yield place, rows.filter(reduce(pc.and_, chosen)).drop_columns(by)


def _store(url: str, options: Mapping[str, str]) -> Any:
    from zkdash.history.places import remote  # noqa: PLC0415 - a driver whose tables lie here does without

    return remote.filesystem(Remote(url, Path(), options))


class _Writer:
    """The files of one task, one after the other: a new one for each place, and where one is full."""

    def __init__(self, store: Any, run: str) -> None:
        self._store, self._run = store, run
        self._place, self._rows = "", 0
        self._waiting: list[pa.Table] = []
        self._open: _Open | None = None
        self._made: list[File] = []

    def add(self, place: str, rows: pa.Table) -> None:
        if place != self._place or self._rows >= MOST_ROWS_A_FILE:
            self._close()
            self._place = place
        self._waiting.append(rows)
        self._rows += rows.num_rows
        waiting = sum(part.num_rows for part in self._waiting)
        if waiting >= _GROUP_ROWS or sum(part.nbytes for part in self._waiting) >= _GROUP_BYTES:
            self._flush()

    def end(self) -> list[File]:
        self._close()
        return self._made

    def _flush(self) -> None:
        group = pa.concat_tables(self._waiting)
        self._waiting.clear()
        if self._open is None:
            below = f"{self._run}/{self._place}" if self._place else self._run
            self._open = _Open(self._store, f"{below}/part-{secrets.token_hex(8)}.parquet", group.schema)
        self._open.writer.write_table(group, row_group_size=group.num_rows)

    def _close(self) -> None:
        if self._rows:
            if self._waiting:
                self._flush()
            assert self._open is not None  # noqa: S101 - it has rows
            self._made.append(self._open.close())
        self._open, self._rows = None, 0


class _Open:
    """A file that is being written."""

    def __init__(self, store: Any, path: str, schema: pa.Schema) -> None:
        self._path, self._metadata = path, list[pq.FileMetaData]()
        self._stream = store.open_output_stream(path)
        self.writer = pq.ParquetWriter(
            self._stream, schema, compression=files.COMPRESSION, metadata_collector=self._metadata
        )

    def close(self) -> File:
        self.writer.close()
        size = self._stream.tell()
        self._stream.close()
        return files.listed(self._path, self._metadata[0], size)
