"""Tables as pages read them: DuckDB over the files that their logs list, in this process, without Spark.

Every query has a limit of memory and of time. Nothing but the listed files can be read by it. DuckDB
and Arrow are imported with the first question: a process that nobody asks does without their 50 MB.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from zkdash.history.store.delta import File, Table

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

MEMORY_MB: Final = 512
TIME_LIMIT_S: Final = 10.0
THREADS: Final = 2
# So many answers of `lasting` are kept.
_MOST_ANSWERS: Final = 32


class QueryError(RuntimeError):
    """A query did not come to its end: too long, too large, a file that is not there, or something else that
    DuckDB says; one sentence."""


class Tables:
    """The tables of one cluster, below `directory`, as they are now: a context that reads one moment of each.

    `bounds` leaves out files that cannot hold what is asked: table → column → (least, greatest).
    Raises QueryError, delta.TableError.
    """

    def __init__(
        self,
        directory: Path,
        names: Iterable[str],
        *,
        bounds: Mapping[str, Mapping[str, tuple[int, int]]] = {},
        memory_mb: int = MEMORY_MB,
        limit_s: float = TIME_LIMIT_S,
        threads: int = THREADS,
    ) -> None:
        import duckdb  # noqa: PLC0415 - see the module

        self._limit_s = limit_s
        options: dict[str, str | bool | int | float | list[str]]
        options = {"memory_limit": f"{memory_mb}MB", "threads": threads, "temp_directory": ""}
        options |= {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        self._connection = duckdb.connect(config=options)
        # each query looks into each file for its columns, and what they hold from where to where
        self._connection.execute("SET parquet_metadata_cache = true")
        self._answers: OrderedDict[tuple[str, str], Sequence[Mapping[str, Any]]] = OrderedDict()
        allowed: list[str] = []
        for name in names:
            table = Table(directory / name)
            files = [file for file in table.read().files if _may_hold(file, bounds.get(name, {}))]
            paths = [str(table.directory / file.path) for file in files]
            try:
                self._view(name, paths)
            except duckdb.Error as error:
                self.close()
                raise _unanswered(error) from error
            allowed += paths
        self._connection.execute(f"SET allowed_paths = {_listed(allowed)}")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def query(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> pa.Table:
        """The answer as Arrow. Raises QueryError."""
        import duckdb  # noqa: PLC0415 - see the module

        overdue = threading.Timer(self._limit_s, self._connection.interrupt)
        overdue.start()
        try:
            return self._connection.sql(sql, params=parameters or None).to_arrow_table()
        except duckdb.InterruptException as error:
            raise QueryError(f"the query took longer than {self._limit_s:g} s: ask for less of it") from error
        except duckdb.OutOfMemoryException as error:
            raise QueryError("the query needs more memory than it may have: ask for less of it") from error
        except duckdb.Error as error:
            raise _unanswered(error) from error
        finally:
            overdue.cancel()

    def rows(
        self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()
    ) -> list[dict[str, Any]]:
        """The answer as rows. Raises QueryError."""
        rows: list[dict[str, Any]] = self.query(sql, parameters).to_pylist()
        return rows

    def lasting(self, sql: str, parameters: Mapping[str, object] = {}) -> Sequence[Mapping[str, Any]]:
        """The same for a question that comes again and again: asked once, while these tables are open.

        Raises QueryError.
        """
        key = (sql, repr(parameters))
        if key not in self._answers:
            self._answers[key] = self.rows(sql, parameters)
            if len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
        self._answers.move_to_end(key)
        return self._answers[key]

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _view(self, name: str, paths: list[str]) -> None:
        """A table without a file has its columns all the same, where we know them."""
        if paths:
            # Files of a table lie in directories of days, of days and hours, or in none: none tells a column.
            read = f"read_parquet({_listed(paths)}, union_by_name = true, hive_partitioning = false)"
            self._connection.execute(f'CREATE VIEW "{name}" AS SELECT * FROM {read}')  # noqa: S608 - our names
            return
        from zkdash.history.store import derived, schemas  # noqa: PLC0415 - see the module

        if schema := schemas.TABLES.get(name) or derived.TABLES.get(name):
            empty = schema.empty_table()
            self._connection.register("empty", empty)
            self._connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM empty')  # noqa: S608 - our names
            self._connection.unregister("empty")


def _unanswered(error: duckdb.Error) -> QueryError:
    import duckdb  # noqa: PLC0415 - see the module

    sentence = str(error).partition("\n")[0]
    if isinstance(error, duckdb.IOException):
        return QueryError(f"a file of the table cannot be read: {sentence}")
    return QueryError(f"DuckDB does not answer: {sentence}")


def _may_hold(file: File, wanted: Mapping[str, tuple[int, int]]) -> bool:
    return all(
        name not in file.bounds or (file.bounds[name][0] <= most and file.bounds[name][1] >= least)
        for name, (least, most) in wanted.items()
    )


def _listed(paths: Iterable[str]) -> str:
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"
