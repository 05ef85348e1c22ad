"""What the log of a table tells, in our words and in deltalake's: its files, positions, columns, settings."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from zkdash.history.places.location import Location, Remote
from zkdash.history.store.delta_errors import LOG, told
from zkdash.time_units import MINUTE_MS

if TYPE_CHECKING:
    import deltalake
    import pyarrow as pa
    from deltalake.transaction import AddAction, RemoveAction

DAY: Final = "date"  # by which the files of a table lie, where they lie by day
GRACE_MS: Final = 15 * 60 * 1000
_CONFIGURATION: Final = {
    "delta.deletedFileRetentionDuration": f"interval {GRACE_MS // MINUTE_MS} minutes",
    "delta.logRetentionDuration": "interval 2 hours",
    "delta.checkpointInterval": "10",
}
# Bytes of a commit that tell it from those of other tables: they name new files, or say when it was.
_BEGINNING: Final = 200
_MOST_REMEMBERED: Final = 32  # tables


class File(msgspec.Struct, frozen=True):
    """A listed file: path below the table's directory, rows, bytes.

    `partition` are the values that are its directory's and not in it. `bounds` are the least and the
    greatest value of whole-number columns, and `nulls` in how many rows they have none, so that readers need
    not open what they do not ask for; a column that is missing in one of them is one of which it is unknown.
    """

    path: str
    rows: int
    bytes: int
    partition: Mapping[str, str] = {}
    bounds: Mapping[str, tuple[int, int]] = {}
    nulls: Mapping[str, int] = {}


class TableVersion:
    """A version of a table: its number in the log, -1 where there is none, and its files, oldest first."""

    def __init__(self, log: deltalake.DeltaTable | None, location: Location) -> None:
        self.log = log
        self._location = location
        self._positions: dict[str, int | None] = {}
        self.version = -1 if log is None else log.version()

    @cached_property
    def files(self) -> tuple[File, ...]:
        return () if self.log is None else tuple(_files(self.log))

    @cached_property
    def columns(self) -> frozenset[str]:
        """Those that files of it may have: all but what they lie by."""
        if self.log is None:
            return frozenset()
        names = (field.name for field in self.log.schema().fields)
        return frozenset(names) - frozenset(self.log.metadata().partition_columns)

    @property
    def id(self) -> str:
        """What no table has that was made anew in its place; "" where there is none."""
        return "" if self.log is None else str(self.log.metadata().id)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    def position(self, name: str) -> int | None:
        """How far a stream of batches is, or what was derived; None where it never began.

        The log is asked once for it. Raises delta_errors.TableError.
        """
        if self.log is None:
            return None
        if name not in self._positions:
            with told(self._location):
                self._positions[name] = self.log.transaction_version(name)
        return self._positions[name]


class _Remembered(NamedTuple):
    """The newest version of a table, with its commit's first bytes, and what tells those of a commit now."""

    version: TableVersion
    since: float
    first: bytes
    beginning: Callable[[str], bytes | None]

    def is_newest(self) -> bool:
        """Whether its commit is still there, the same one, and none after it."""
        if time.monotonic() - self.since > GRACE_MS / 1000:  # so that no commit after it may be gone again
            return False
        number = self.version.version
        return self.beginning(_commit(number + 1)) is None and self.beginning(_commit(number)) == self.first


class Newest:
    """The newest versions of tables elsewhere, read once for as long as a log does not go on.

    To read a log takes a request for each of its parts, to see that it did not go on takes two.
    """

    def __init__(self) -> None:
        self._remembered: OrderedDict[Remote, _Remembered] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, location: Remote, read: Callable[[], TableVersion]) -> TableVersion:
        """The version of the table there, which `read` reads. Raises TableError, as that does."""
        with self._lock:
            before = self._remembered.get(location)
        with told(location):
            if before is not None and before.is_newest():
                return before.version
            version = read()
            remembered = _remember(location, version)
        with self._lock:
            self._remembered.pop(location, None)
            if remembered is not None:
                self._remembered[location] = remembered
            while len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return version


def _remember(location: Remote, version: TableVersion) -> _Remembered | None:
    from zkdash.history.places import remote  # noqa: PLC0415 - Arrow

    if version.version < 0:
        return None
    since, commits = time.monotonic(), (_commit(version.version), _commit(version.version + 1))
    beginning = remote.beginnings(location, commits, _BEGINNING)
    first = beginning(commits[0])
    return None if first is None else _Remembered(version, since, first, beginning)


def _commit(number: int) -> str:
    return f"{LOG}/{number:020}.json"


def added(file: File, now_ms: int) -> AddAction:
    """A file to be listed, with its statistics."""
    from deltalake.transaction import AddAction  # noqa: PLC0415 - with the first table that is there

    stats = {
        "numRecords": file.rows,
        "minValues": {name: least for name, (least, _) in file.bounds.items()},
        "maxValues": {name: most for name, (_, most) in file.bounds.items()},
        "nullCount": dict(file.nulls),
    }
    return AddAction(file.path, file.bytes, dict(file.partition), now_ms, True, json.dumps(stats))


def removed(file: File, now_ms: int) -> RemoveAction:
    """A file to be listed no longer."""
    from deltalake.transaction import RemoveAction  # noqa: PLC0415 - as in `added`

    return RemoveAction(file.path, True, now_ms, file.bytes, dict(file.partition))


def properties(positions: Mapping[str, int]) -> deltalake.CommitProperties:
    """What a commit says of how far the table is."""
    import deltalake  # noqa: PLC0415 - as in `added`

    moved = [deltalake.Transaction(name, version) for name, version in positions.items()]
    return deltalake.CommitProperties(app_transactions=moved)


def layout(name: str) -> tuple[pa.Schema, list[str]]:
    """The Arrow schema of a table, and what its files lie by."""
    from zkdash.history.store import derived, schemas  # noqa: PLC0415 - Arrow

    schema = schemas.TABLES.get(name) or derived.TABLES.get(name) or schemas.INNER[name]
    if name not in derived.DATED:
        return schema, []
    return schema.append(derived.DATE), [DAY]


def configuration(schema: pa.Schema) -> dict[str, str]:
    """The settings of a table: statistics are kept of whole numbers alone, and of all of these.

    deltalake's dataset of pyarrow takes a statistic that is missing for one that holds for no row.
    """
    import pyarrow as pa  # noqa: PLC0415 - as in `added`

    numbers = [field.name for field in schema if pa.types.is_integer(field.type)]
    return {**_CONFIGURATION, "delta.dataSkippingStatsColumns": ",".join(numbers)}


def writing() -> deltalake.WriterProperties:
    """How deltalake writes files."""
    import deltalake  # noqa: PLC0415 - as in `added`

    return deltalake.WriterProperties(compression="ZSTD")


def _files(log: deltalake.DeltaTable) -> Iterator[File]:
    """In the order in which they were listed."""
    arrays = [batch.to_struct_array() for batch in log.get_add_actions().to_batches()]
    rows = [array[at].as_py() for array in arrays for at in range(len(array))]
    for row in sorted(rows, key=itemgetter("modification_time")):
        least, most, nulls = (row.get(name) or {} for name in ("min", "max", "null_count"))
        yield File(
            row["path"],
            row["num_records"] or 0,
            row["size_bytes"],
            {name: str(value) for name, value in (row.get("partition") or {}).items()},
            {
                name: (value, most[name])
                for name, value in least.items()
                if type(value) is int and type(most.get(name)) is int
            },
            {name: count for name, count in nulls.items() if type(count) is int},
        )
