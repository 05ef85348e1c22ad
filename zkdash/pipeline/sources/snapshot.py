"""`zksnapshot`: ZooKeeper's snapshots, plain, gz and snappy, as rows of the checkpoint, one partition a file.

Options: `options.Options`; `since` leaves out snapshots of an earlier zxid. Of two of the same zxid the first
is read. Schema: `rows.ZNODES`. A torn or
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
from zkdash.pipeline.sources import files, options, rows, selection
from zkdash.pipeline.sources.files import Directory, Found
from zkdash.pipeline.sources.options import Options

SNAPSHOT: Final = re.compile(r"snapshot\.([0-9a-f]{1,16})(?:\.gz|\.snappy)?")


class SnapshotFile(InputPartition):
    """A snapshot, and the zxid that its server's next one is named by: this one was complete by then."""

    def __init__(self, snapshot: Found, next_zxid: int | None) -> None:
        super().__init__(snapshot.place)
        self.snapshot, self.next_zxid = snapshot, next_zxid


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
        directories = files.listed(self._options.path, SNAPSHOT).directories
        next_zxids = {
            snapshot.place: after and after.zxid
            for snapshots in directories
            for snapshot, after in itertools.zip_longest(snapshots, snapshots[1:])
        }
        wanted = self._options.files
        chosen = selection.unread_snapshots(
            directories,
            is_loaded=lambda zxid: zxid < self._options.since,
            is_seen=lambda snapshot: wanted is not None and snapshot.place not in wanted,
        )
        return [SnapshotFile(snapshot, next_zxids[snapshot.place]) for snapshot in chosen]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark hands over a bare partition where there is none
        return _read(partition, self._options) if isinstance(partition, SnapshotFile) else iter(())


def _read(part: Any, options: Options) -> Iterator[pa.RecordBatch]:
    snapshot: Found = part.snapshot
    try:
        data = Directory(snapshot.directory).read(snapshot.path)
    except OSError as error:
        yield from rows.problems(snapshot.place, [Problem(0, files.reason(error))], rows.ZNODES)
        return
    layout = snapshot_reader.layout(data)
    if isinstance(layout, Problem):
        yield from rows.problems(snapshot.place, [layout], rows.ZNODES)
        return
    upto = part.next_zxid if layout.last_zxid is None else max(layout.last_zxid, snapshot.zxid)
    for batch in snapshot_arrow.batches(layout.data, rows.REDACTION):
        if isinstance(batch, Problem):
            yield from rows.problems(snapshot.place, [batch], rows.ZNODES)
        else:
            yield rows.noted(rows.znodes(batch, options.chroot, snapshot.zxid, upto), rows.ZNODES)
