"""The tables that the recorder writes: each flush is in them once, however often it is tried.

Who writes is told by the tables themselves, since tables that lie elsewhere can be reached by many machines:
each flush moves a position on, to a number that no other recorder has, and is written only where the position
is where the flush before left it. The newest recorder goes on; the one before it finds another's number.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from zkdash.history.places.location import Location, Remote
from zkdash.history.store import watching
from zkdash.history.store.delta import ConflictError, Table

if TYPE_CHECKING:
    import pyarrow as pa

STREAM: Final = "watch"
# Where intervals are told last, all that they tell of is there.
TABLES: Final = ("znodes_checkpoint", "changes", "log_ends", watching.NAME)
_COMPACT_EVERY: Final = 60
_APART: Final = 1 << 16  # so unlikely is it that two recorders that begin at one position count alike


class ElsewhereError(RuntimeError):
    """Another recorder writes the tables of this cluster."""


class Flush(msgspec.Struct, frozen=True):
    """Rows by table, written as the flush of this number."""

    number: int
    tables: Mapping[str, pa.Table]


class Log:
    """The tables of a cluster below `directory`; `open` before all else."""

    def __init__(self, directory: Location) -> None:
        self._tables = {name: Table(directory / name) for name in TABLES}
        self._positions: dict[str, int | None] = {}
        self._number = 0
        self.upto: int | None = None

    def open(self) -> None:
        """Go on counting behind where the last recorder ended. Raises TableError, ConflictError.

        Where several machines may write, whoever wrote until now is told of it by the position.
        """
        self._positions = self.positions()
        last = max(-1 if position is None else position for position in self._positions.values())
        self._number = last + _COMPACT_EVERY * (1 + secrets.randbelow(_APART))
        for name, table in self._tables.items():
            if isinstance(table.location, Remote):
                table.append([], stream=STREAM, batch=self._number)
                self._positions[name] = self._number

    def positions(self) -> dict[str, int | None]:
        """Where each table is now. Raises TableError."""
        return {name: table.read().position(STREAM) for name, table in self._tables.items()}

    def next(self) -> int:
        """The number of the next flush."""
        self._number += 1
        return self._number

    def write(self, flush: Flush) -> int:
        """Write a flush, or what an earlier attempt left of it; how many changes it has.

        Raises OSError, pa.ArrowException, TableError, ConflictError: nothing is listed in part then; and
        ElsewhereError where another recorder wrote since.
        """
        from zkdash.history.store import files  # noqa: PLC0415 - Arrow, which whoever never flushes does without

        for name in TABLES:
            rows = flush.tables.get(name)
            if rows is None or not rows.num_rows:
                continue
            table = self._tables[name]
            now = table.read()
            position = now.position(STREAM)
            if position != flush.number:
                if position != self._positions[name]:
                    raise ElsewhereError(f"another recorder writes {table.location}")
                files.append(table, rows, stream=STREAM, batch=flush.number, base=now)
            self._positions[name] = flush.number
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
