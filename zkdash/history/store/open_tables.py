"""Tables that stay open from one question to the next: to open them costs more than most questions do."""

from __future__ import annotations

import contextlib
import os
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from typing import Final, NamedTuple

from zkdash.history.places.location import Location
from zkdash.history.store.tables import THREADS, TIME_LIMIT_S, QueryError, Tables, generations

# The tables of so many directories are open at once.
_MOST: Final = 3


class _Open(NamedTuple):
    """Tables, and their generations then."""

    generations: tuple[Hashable, ...]
    tables: Tables


class OpenTables:
    """Tables of some names below any directory, as they are now, asked within limits. For one thread."""

    def __init__(self, names: Sequence[str], *, memory_mb: int, limit_s: float = TIME_LIMIT_S) -> None:
        self._names, self._memory_mb, self._limit_s = names, memory_mb, limit_s
        self._open: OrderedDict[Location, _Open] = OrderedDict()

    @contextlib.contextmanager
    def of(self, directory: Location) -> Iterator[Tables]:
        """Those below a directory, opened anew where a log of theirs went on. Raises QueryError, TableError.

        Elsewhere their logs are read for it, at once and within the limit of time. They are not kept after an
        error of a query: a file may be gone that no log took away.
        """
        now, versions = generations(directory, self._names, self._limit_s)
        before = self._open.get(directory)
        if before is None or before.generations != now:
            self._close(directory)
            tables = Tables(
                directory,
                self._names,
                versions=versions,
                memory_mb=self._memory_mb,
                limit_s=self._limit_s,
                threads=_threads(),
            )
            self._open[directory] = _Open(now, tables)
            if len(self._open) > _MOST:
                self._close(next(iter(self._open)))
        self._open.move_to_end(directory)
        try:
            yield self._open[directory].tables
        except (QueryError, MemoryError):
            self._close(directory)
            raise

    def _close(self, directory: Location) -> None:
        """Close the tables below a directory, where they are open."""
        if (before := self._open.pop(directory, None)) is not None:
            before.tables.close()


def _threads() -> int:
    """One core is left to whoever serves pages of now."""
    return max(1, min(THREADS, len(os.sched_getaffinity(0)) - 1))
