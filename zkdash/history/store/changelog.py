"""The tables that the recorder writes: each flush is in them once, however often it is tried."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from zkdash.history.store import watching
from zkdash.history.store.delta import ConflictError, Table

if TYPE_CHECKING:
    import pyarrow as pa

STREAM: Final = "watch"
# Where intervals are told last, all that they tell of is there.
TABLES: Final = ("znodes_checkpoint", "changes", "log_ends", watching.NAME)
_COMPACT_EVERY: Final = 60


class Flush(msgspec.Struct, frozen=True):
    """Rows by table, written as the flush of this number."""

    number: int
    tables: Mapping[str, pa.Table]


class Log:
    """The tables of a cluster below `directory`; `open` before all else."""

    def __init__(self, directory: Path) -> None:
        self._tables = {name: Table(directory / name) for name in TABLES}
        self._number = 0
        self.upto: int | None = None

    def open(self) -> None:
        """Go on counting where the last recorder ended. Raises TableError."""
        positions = [table.read().position(STREAM) for table in self._tables.values()]
        self._number = max(-1 if position is None else position for position in positions)

    def next(self) -> int:
        """The number of the next flush."""
        self._number += 1
        return self._number

    def write(self, flush: Flush) -> int:
        """Write a flush, or what an earlier attempt left of it; how many changes it has.

        Raises OSError, pa.ArrowException, TableError, ConflictError: nothing is listed in part then.
        """
        from zkdash.history.store import files  # noqa: PLC0415 - Arrow, which whoever never flushes does without

        for name in TABLES:
            rows = flush.tables.get(name)
            if rows is None or not rows.num_rows:
                continue
            table = self._tables[name]
            position = table.read().position(STREAM)
            if position is None or position < flush.number:
                files.append(table, rows, stream=STREAM, batch=flush.number)
        upto = flush.tables[watching.NAME]["zxid_upto"].to_pylist()
        self.upto = max(upto, default=self.upto)
        if flush.number % _COMPACT_EVERY == 0:
            self._compact()
        changes: int = flush.tables["changes"].num_rows
        return changes

    def _compact(self) -> None:
        for name, table in self._tables.items():
            if name != "znodes_checkpoint":
                with contextlib.suppress(ConflictError):  # somebody else writes; there is a next time
                    table.compact()
                table.vacuum()
