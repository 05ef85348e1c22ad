"""Tables as pages read them: DuckDB over the files that their logs list, in this process, without Spark.

Every query has a limit of memory and of time. Nothing but the listed files can be read by it. DuckDB
and Arrow are imported with the first question: a process that nobody asks does without their 50 MB.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeVar

from zkdash.history.places.location import Location, Remote
from zkdash.history.store.delta import LOG, File, Table, TableError, TableVersion
from zkdash.history.store.delta_errors import line
from zkdash.history.store.delta_log import Newest

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from zkdash.history.places.remote import DuckFiles

T = TypeVar("T")
# Between which values the columns of what is asked lie: table → column → (least, greatest). Files that hold
# nothing of it are not opened.
Bounds = Mapping[str, Mapping[str, tuple[int, int]]]
UNBOUNDED: Final[Bounds] = MappingProxyType({})
LEAST: Final = -(1 << 63)
MOST: Final = (1 << 63) - 1

MEMORY_MB: Final = 512
TIME_LIMIT_S: Final = 10.0
THREADS: Final = 2
# So many answers of `lasting` are kept.
_MOST_ANSWERS: Final = 32
# Of all who look at tables elsewhere; a look that nobody waits for any longer ends by the store's own limits.
_AT_ONCE: Final = 16
_SPARED_S: Final = 5.0  # a store that did not answer in time is asked again for pages after this

_looks = ThreadPoolExecutor(_AT_ONCE, "tables")
_spared_until: dict[Remote, float] = {}
_newest = Newest()


class QueryError(RuntimeError):
    """A query did not come to its end: too long, too large, a file that is not there, or something else that
    DuckDB says; one sentence."""


class Tables:
    """The tables of one cluster, below `directory`, as they are now: a context that reads one moment of each.

    `bounds` are those of all that is asked of them; a query may have narrower ones. `versions` were opened
    already, by name. `limit_s` is what opening may take, and each query. Raises QueryError, delta.TableError.
    """

    def __init__(
        self,
        directory: Location,
        names: Iterable[str],
        *,
        bounds: Bounds = UNBOUNDED,
        versions: Mapping[str, TableVersion] = {},
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
        # each query looks into each file for its columns, and what they hold from where to where: elsewhere
        # that is a request a file
        self._connection.execute("SET parquet_metadata_cache = true")
        self._answers: OrderedDict[tuple[str, str], Sequence[Mapping[str, Any]]] = OrderedDict()
        self._views: dict[str, _View] = {}
        self._extremes: dict[tuple[str, str], tuple[int, int] | None] = {}
        self._files: DuckFiles | None = None  # those that lie elsewhere
        try:
            now = opened(directory, names, limit_s, versions)
            self._listed = listed_files(now, bounds)
            allowed = self._addresses(directory, self._listed)
            for name, paths in allowed.items():
                self._view(name, paths, now[name])
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

    def query(
        self, sql: str, parameters: Sequence[object] | Mapping[str, object] = (), bounds: Bounds = UNBOUNDED
    ) -> pa.Table:
        """The answer as Arrow. What it asks for lies within `bounds`. Raises QueryError."""
        import duckdb  # noqa: PLC0415 - see the module

        overdue = threading.Timer(self._limit_s, self._connection.interrupt)
        overdue.start()
        if self._files is not None:
            self._files.expect(self._limit_s)
        try:
            for name, view in self._views.items():
                self._show(name, view, bounds.get(name, {}))
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
        self, sql: str, parameters: Sequence[object] | Mapping[str, object] = (), bounds: Bounds = UNBOUNDED
    ) -> list[dict[str, Any]]:
        """The answer as rows. Raises QueryError."""
        rows: list[dict[str, Any]] = self.query(sql, parameters, bounds).to_pylist()
        return rows

    def lasting(
        self, sql: str, parameters: Mapping[str, object] = {}, bounds: Bounds = UNBOUNDED
    ) -> Sequence[Mapping[str, Any]]:
        """The same for a question that comes again and again: asked once, while these tables are open.

        Raises QueryError.
        """
        key = (sql, repr(parameters))
        if key not in self._answers:
            self._answers[key] = self.rows(sql, parameters, bounds)
            if len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
        self._answers.move_to_end(key)
        return self._answers[key]

    def extremes(self, name: str, column: str) -> tuple[int, int] | None:
        """The least and the greatest value of a column of whole numbers, None where there is none.

        The log tells them, without a look into the files. Raises QueryError.
        """
        if (name, column) not in self._extremes:
            self._extremes[name, column] = self._find_extremes(name, column)
        return self._extremes[name, column]

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
        from zkdash.history.places import remote  # noqa: PLC0415 - as in `_view`

        sizes = {f"{name}/{file.path}": file.bytes for name, files in listed.items() for file in files}
        self._files = remote.DuckFiles(directory, sizes, self._limit_s)
        self._connection.register_filesystem(self._files)
        return {name: [remote.address(f"{name}/{file.path}") for file in listed[name]] for name in listed}

    def _find_extremes(self, name: str, column: str) -> tuple[int, int] | None:
        listed = self._listed[name]
        if all(column in file.bounds or file.nulls.get(column) == file.rows for file in listed):
            bounds = [file.bounds[column] for file in listed if column in file.bounds]
            return (min(least for least, _ in bounds), max(most for _, most in bounds)) if bounds else None
        (row,) = self.rows(f'SELECT min("{column}") AS least, max("{column}") AS most FROM "{name}"')  # noqa: S608
        return None if row["least"] is None else (row["least"], row["most"])

    def _view(self, name: str, paths: list[str], version: TableVersion) -> None:
        """A table without a file has its columns all the same, where we know them."""
        if paths:
            # To find its columns DuckDB looks into each file of a view, and nearly always one has them all.
            for whole in (paths[0], paths[-1]):
                self._read(name, [whole])
                if version.columns <= self._columns(name):
                    self._views[name] = _View(whole, tuple(paths), (whole,))
                    return
            self._read(name, paths)
            return
        from zkdash.history.store import derived, schemas  # noqa: PLC0415 - see the module

        if schema := schemas.TABLES.get(name) or derived.TABLES.get(name):
            empty = schema.empty_table()
            self._connection.register("empty", empty)
            self._connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM empty')  # noqa: S608 - our names
            self._connection.unregister("empty")

    def _read(self, name: str, paths: Iterable[str]) -> None:
        self._set(name, paths)
        # Files of a table lie in directories of days, of days and hours, or in none: none tells a column.
        given = f"getvariable('{_variable(name)}'), union_by_name = true, hive_partitioning = false"
        self._connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS FROM read_parquet({given})')

    def _columns(self, name: str) -> set[str]:
        return {column for column, *_ in self._connection.execute(f'DESCRIBE "{name}"').fetchall()}

    def _show(self, name: str, view: _View, bounds: Mapping[str, tuple[int, int]]) -> None:
        """Have a view read the files within bounds, and first the one that tells its columns."""
        files = zip(self._listed[name], view.paths, strict=True)
        within = (path for file, path in files if path != view.whole and _may_hold(file, bounds))
        shown = (view.whole, *within)
        if shown != view.shown:
            self._views[name] = view._replace(shown=())  # nobody knows, should the limit of time end this
            self._set(name, shown)
            self._views[name] = view._replace(shown=shown)

    def _set(self, name: str, paths: Iterable[str]) -> None:
        self._connection.execute(f"SET VARIABLE {_variable(name)} = {_quoted(paths)}")

    def _unanswered(self, error: duckdb.Error) -> QueryError:
        failure = None if self._files is None else self._files.failure
        return _unanswered(error) if failure is None else _unread(line(failure))


class _View(NamedTuple):
    """A table's files as DuckDB reaches them; one that has all its columns; and those that are read just now,
    that one first, as columns have an order."""

    whole: str
    paths: tuple[str, ...]
    shown: tuple[str, ...]


def _variable(name: str) -> str:
    return f"files_of_{name}"


def _unread(sentence: str) -> QueryError:
    return QueryError(f"a file of the table cannot be read: {sentence}")


def _unanswered(error: duckdb.Error) -> QueryError:
    import duckdb  # noqa: PLC0415 - see the module

    sentence = str(error).partition("\n")[0]
    if isinstance(error, duckdb.IOException):
        return _unread(sentence)
    return QueryError(f"DuckDB does not answer: {sentence}")


def listed_files(versions: Mapping[str, TableVersion], bounds: Bounds) -> dict[str, list[File]]:
    """The files of each table that may hold what is asked."""
    return {
        name: [file for file in version.files if _may_hold(file, bounds.get(name, {}))]
        for name, version in versions.items()
    }


def opened(
    directory: Location,
    names: Iterable[str],
    limit_s: float | None = None,
    versions: Mapping[str, TableVersion] = {},
) -> dict[str, TableVersion]:
    """These tables as they are now, those of `versions` as they were. Raises TableError, as `each` does."""
    names = tuple(names)
    closed = [name for name in names if name not in versions]
    read = each(directory, lambda name: _newest_of(Table(directory / name)), closed, limit_s=limit_s)
    newest = {**versions, **dict(zip(closed, read, strict=True))}
    return {name: newest[name] for name in names}


def _newest_of(table: Table) -> TableVersion:
    return _newest.of(table.location, table.read) if isinstance(table.location, Remote) else table.read()


def generations(
    directory: Location, names: Sequence[str], limit_s: float
) -> tuple[tuple[Hashable, ...], Mapping[str, TableVersion]]:
    """What tells these tables from what they were before, and will be; and those that were opened for it.

    Of tables of this machine names and a time tell it, and none is opened. Raises TableError, as `each` does.
    """
    if not isinstance(directory, Remote):
        return tuple(_generation(Table(directory / name)) for name in names), {}
    versions = opened(directory, names, limit_s)
    return tuple((versions[name].version, versions[name].id) for name in names), versions


def _generation(table: Table) -> tuple[int, int]:
    """The number of a table's newest commit, and when its log was written: a table may be made anew."""
    number = table.version()
    return number, (table.directory / LOG).stat().st_mtime_ns if number >= 0 else 0


def each(
    directory: Location, look: Callable[[str], T], names: Sequence[str], *, limit_s: float | None = None
) -> list[T]:
    """What is found of tables, by name: at once where they are elsewhere, as each answer takes time.

    Whoever waits for those elsewhere waits for `limit_s` seconds at most, and who asks soon after not at all.
    Raises TableError then, and as `look` does.
    """
    if not isinstance(directory, Remote):
        return [look(name) for name in names]
    if limit_s is not None and time.monotonic() < _spared_until.get(directory, 0.0):
        raise _silent(directory, limit_s)
    pending = [_looks.submit(look, name) for name in names]
    done, late = wait(pending, limit_s, FIRST_EXCEPTION)
    failed = next((failure for future in done if (failure := future.exception()) is not None), None)
    for future in late:
        future.cancel()
    if failed is not None:
        raise failed
    if late:
        assert limit_s is not None  # noqa: S101 - else none is late
        _spared_until[directory] = time.monotonic() + _SPARED_S
        raise _silent(directory, limit_s)
    return [future.result() for future in pending]


def _silent(directory: Remote, limit_s: float) -> TableError:
    return TableError(
        f"{directory} did not answer within {limit_s:g} s: see that the store answers, and ask again"
    )


def _may_hold(file: File, wanted: Mapping[str, tuple[int, int]]) -> bool:
    return all(
        name not in file.bounds or (file.bounds[name][0] <= most and file.bounds[name][1] >= least)
        for name, (least, most) in wanted.items()
    )


def _quoted(paths: Iterable[str]) -> str:
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"
