"""`zksnapshot`: ZooKeeper's snapshots, plain, gz and snappy, as rows of the checkpoint, one partition a file.

Options: `options.Options`; `since` leaves out snapshots of an earlier zxid. Schema: `rows.ZNODES`. A torn or
damaged snapshot is one problem and no znode.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from zkdash.formats import snapshot_arrow, snapshot_reader
from zkdash.formats.problems import Problem
from zkdash.pipeline.sources import files, options, rows
from zkdash.pipeline.sources.files import Directory
from zkdash.pipeline.sources.options import Options

_SNAPSHOT: Final = re.compile(r"snapshot\.([0-9a-f]{1,16})(?:\.gz|\.snappy)?")


class SnapshotFile(InputPartition):
    """A snapshot, and the zxid that the next one is named by: this one was complete by then."""

    def __init__(self, path: str, name: str, zxid: int, next_zxid: int | None) -> None:
        super().__init__(path)
        self.path, self.name, self.zxid, self.next_zxid = path, name, zxid, next_zxid


class SnapshotSource(DataSource):
    """The format `zksnapshot`."""

    @classmethod
    def name(cls) -> str:
        return "zksnapshot"

    def schema(self) -> StructType:
        return from_arrow_schema(rows.ZNODES)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's signature
        return _Batch(options.parse(self.options))


class _Batch(DataSourceReader):
    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        snapshots = Directory(self._options.path).files(_SNAPSHOT)
        return [
            SnapshotFile(snapshot.path, snapshot.name, snapshot.zxid, after and after.zxid)
            for snapshot, after in itertools.zip_longest(snapshots, snapshots[1:])
            if snapshot.zxid >= self._options.since
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark hands over a bare partition where there is none
        return _read(partition, self._options) if isinstance(partition, SnapshotFile) else iter(())


def _read(part: Any, options: Options) -> Iterator[pa.RecordBatch]:
    try:
        data = Directory(options.path).read(part.path)
    except OSError as error:
        yield from rows.problems(part.name, [Problem(0, files.reason(error))], rows.ZNODES)
        return
    layout = snapshot_reader.layout(data)
    if isinstance(layout, Problem):
        yield from rows.problems(part.name, [layout], rows.ZNODES)
        return
    upto = part.next_zxid if layout.last_zxid is None else max(layout.last_zxid, part.zxid)
    for batch in snapshot_arrow.batches(layout.data, rows.REDACTION):
        if isinstance(batch, Problem):
            yield from rows.problems(part.name, [batch], rows.ZNODES)
        else:
            yield rows.noted(rows.znodes(batch, options.chroot, part.zxid, upto), rows.ZNODES)
