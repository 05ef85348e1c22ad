"""Tables as pages read them: DuckDB over the files that their logs list, in this process, without Spark.

Every query has a limit of memory and of time. Nothing but the listed files can be read by it. DuckDB
and Arrow are imported with the first question: a process that nobody asks does without their 50 MB.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from zkdash.history.store.delta import File, Table
from zkdash.history.store.delta_errors import line
from zkdash.history.store.location import Location, Remote

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from zkdash.history.store.remote import DuckFiles

T = TypeVar("T")

MEMORY_MB: Final = 512
TIME_LIMIT_S: Final = 10.0
_THREADS: Final = 2
_AT_ONCE: Final = 8  # tables of an object store that are opened


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
        directory: Location,
        names: Iterable[str],
        *,
        bounds: Mapping[str, Mapping[str, tuple[int, int]]] = {},
        memory_mb: int = MEMORY_MB,
        limit_s: float = TIME_LIMIT_S,
    ) -> None:
        import duckdb  # noqa: PLC0415 - see the module

        self._limit_s = limit_s
        options: dict[str, str | bool | int | float | list[str]]
        options = {"memory_limit": f"{memory_mb}MB", "threads": _THREADS, "temp_directory": ""}
        options |= {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        self._connection = duckdb.connect(config=options)
        self._files: DuckFiles | None = None  # those that lie elsewhere
        try:
            listed = _listed_files(directory, tuple(names), bounds)
            allowed = self._addresses(directory, listed)
            for name, paths in allowed.items():
                self._view(name, paths)
        except duckdb.Error as error:
            query_error = self._unanswered(error)
            self.close()
            raise query_error from error
        except BaseException:
            self.close()
            raise
        self._connection.execute(
            f"SET allowed_paths = {_quoted(path for paths in allowed.values() for path in paths)}"
        )
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
            raise self._unanswered(error) from error
        finally:
            overdue.cancel()

    def rows(
        self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()
    ) -> list[dict[str, Any]]:
        """The answer as rows. Raises QueryError."""
        rows: list[dict[str, Any]] = self.query(sql, parameters).to_pylist()
        return rows

    def close(self) -> None:
        if self._files is not None:
            self._connection.unregister_filesystem(self._files.protocol)
            self._files = None
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _addresses(self, directory: Location, listed: Mapping[str, Sequence[File]]) -> dict[str, list[str]]:
        """The files of each table, as DuckDB reaches them."""
        if not isinstance(directory, Remote):
            return {name: [str(directory / name / file.path) for file in listed[name]] for name in listed}
        from zkdash.history.store import remote  # noqa: PLC0415 - as in `_view`

        sizes = {f"{name}/{file.path}": file.bytes for name, files in listed.items() for file in files}
        self._files = remote.DuckFiles(directory, sizes)
        self._connection.register_filesystem(self._files)
        # What a view is bound to is read anew by each query else, in a request a file.
        self._connection.execute("SET parquet_metadata_cache = true")
        return {name: [remote.address(f"{name}/{file.path}") for file in listed[name]] for name in listed}

    def _view(self, name: str, paths: list[str]) -> None:
        """A table without a file has its columns all the same, where we know them."""
        if paths:
            read = f"read_parquet({_quoted(paths)}, union_by_name = true, hive_partitioning = true)"
            self._connection.execute(f'CREATE VIEW "{name}" AS SELECT * FROM {read}')  # noqa: S608 - our names
            return
        from zkdash.history.store import derived, schemas  # noqa: PLC0415 - see the module

        if schema := schemas.TABLES.get(name) or derived.TABLES.get(name):
            empty = schema.empty_table()
            self._connection.register("empty", empty)
            self._connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM empty')  # noqa: S608 - our names
            self._connection.unregister("empty")

    def _unanswered(self, error: duckdb.Error) -> QueryError:
        failure = None if self._files is None else self._files.failure
        return _unanswered(error) if failure is None else _unread(line(failure))


def _unread(sentence: str) -> QueryError:
    return QueryError(f"a file of the table cannot be read: {sentence}")


def _unanswered(error: duckdb.Error) -> QueryError:
    import duckdb  # noqa: PLC0415 - see the module

    sentence = str(error).partition("\n")[0]
    if isinstance(error, duckdb.IOException):
        return _unread(sentence)
    return QueryError(f"DuckDB does not answer: {sentence}")


def _listed_files(
    directory: Location, names: Sequence[str], bounds: Mapping[str, Mapping[str, tuple[int, int]]]
) -> dict[str, list[File]]:
    """The files of each table that may hold what is asked. Raises TableError."""

    def of(name: str) -> list[File]:
        files = Table(directory / name).read().files
        return [file for file in files if _may_hold(file, bounds.get(name, {}))]

    return dict(zip(names, each(directory, of, names), strict=True))


def each(directory: Location, look: Callable[[str], T], names: Sequence[str]) -> list[T]:
    """What is found of tables, by name: at once where they are elsewhere, as each answer takes time."""
    if not isinstance(directory, Remote):
        return [look(name) for name in names]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(look, names))


def _may_hold(file: File, wanted: Mapping[str, tuple[int, int]]) -> bool:
    return all(
        name not in file.bounds or (file.bounds[name][0] <= most and file.bounds[name][1] >= least)
        for name, (least, most) in wanted.items()
    )


def _quoted(paths: Iterable[str]) -> str:
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"
