"""Tables that stay open from one question to the next: to open them costs more than most questions do."""

from __future__ import annotations

import contextlib
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from zkdash.history.store.delta import LOG, Table
from zkdash.history.store.tables import THREADS, TIME_LIMIT_S, QueryError, Tables

# The tables of so many directories are open at once.
_MOST: Final = 3


class _Open(NamedTuple):
    """Tables, and what told their versions then."""

    versions: tuple[object, ...]
    tables: Tables


class OpenTables:
    """Tables of some names below any directory, as they are now, asked within limits. For one thread."""

    def __init__(self, names: Sequence[str], *, memory_mb: int, limit_s: float = TIME_LIMIT_S) -> None:
        self._names, self._memory_mb, self._limit_s = names, memory_mb, limit_s
        self._open: OrderedDict[Path, _Open] = OrderedDict()

    @contextlib.contextmanager
    def of(self, directory: Path) -> Iterator[Tables]:
        """Those below a directory, opened anew where a log of theirs went on. Raises QueryError, TableError.

        They are not kept after an error of a query: a file may be gone that no log took away.
        """
        versions = tuple(_version(Table(directory / name)) for name in self._names)
        before = self._open.get(directory)
        if before is None or before.versions != versions:
            self._close(directory)
            tables = Tables(
                directory,
                self._names,
                memory_mb=self._memory_mb,
                limit_s=self._limit_s,
                threads=_threads(),
            )
            self._open[directory] = _Open(versions, tables)
            if len(self._open) > _MOST:
                self._close(next(iter(self._open)))
        self._open.move_to_end(directory)
        try:
            yield self._open[directory].tables
        except (QueryError, MemoryError):
            self._close(directory)
            raise

    def _close(self, directory: Path) -> None:
        """Close the tables below a directory, where they are open."""
        if (before := self._open.pop(directory, None)) is not None:
            before.tables.close()


def _threads() -> int:
    """One core is left to whoever serves pages of now."""
    return max(1, min(THREADS, len(os.sched_getaffinity(0)) - 1))


def _version(table: Table) -> tuple[int, int]:
    """The number of a table's newest commit, and when its log was written: a table may be made anew."""
    number = table.version()
    return number, (table.directory / LOG).stat().st_mtime_ns if number >= 0 else 0
