"""Files of an object store or of HDFS, through deltalake, which reaches all that it keeps a table in.

Arrow reads and writes them by `filesystem`, DuckDB by `DuckFiles`, in ranges and under its own limits.
"""

from __future__ import annotations

import contextlib
import datetime
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

import fsspec
import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from zkdash.history.places.location import Remote

# Of DuckDB's addresses of files; the one it is registered under.
PROTOCOL: Final = "zkdash"
# Options that say how long a request may take, by whatever store's name.
_LIMITS: Final = re.compile(r"(^|_)(retry_)?timeout$(?<!connect_timeout)")
# Files never change: whatever was kept of one is right.
_WRITTEN: Final = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)


class _Handler(DeltaStorageHandler):
    """deltalake's, which takes nothing but `bytes` to be written: Arrow hands over what it has."""

    def open_output_stream(self, path: str, metadata: dict[str, str] | None = None) -> pa.PythonFile:
        return pa.PythonFile(_Writing(self._handler.open_output_stream(path, metadata)), mode="w")

    def open_ranges(self, path: str) -> Any:
        """A file to seek and read in, without Arrow between."""
        return self._handler.open_input_file(path)


class _Writing:
    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: Any) -> int:
        written: int = self._file.write(bytes(data))
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def filesystem(location: Remote, sizes: Mapping[str, int] = {}) -> fs.PyFileSystem:
    """What lies below a place, by its path there, as Arrow has file systems.

    `sizes` (bytes) are those that need not be asked. While deltalake lists, deletes, begins to write, or asks
    for a size, all threads of the process wait: none of it in a process that serves pages.
    """
    return fs.PyFileSystem(_Handler(location.url, location.options, dict(sizes)))


def parquet(location: Remote, below: str) -> list[fs.FileInfo]:
    """The Parquet files anywhere below a path of a place, by name."""
    selector = fs.FileSelector(below, allow_not_found=True, recursive=True)
    entries = filesystem(location).get_file_info(selector)
    files = [each for each in entries if each.type == fs.FileType.File and each.path.endswith(".parquet")]
    return sorted(files, key=lambda each: str(each.path))


def beginnings(location: Remote, paths: Collection[str], most: int) -> Callable[[str], bytes | None]:
    """What tells the first bytes, `most` at most, of any of these files; None where there is none now.

    Other threads go on meanwhile. It raises OSError.
    """
    handler = _Handler(location.url, location.options, dict.fromkeys(paths, most))

    def beginning(path: str) -> bytes | None:
        try:
            data: bytes = handler.open_ranges(path).read(most)
        except FileNotFoundError:
            return None
        return data

    return beginning


def remove_empty(location: Remote, below: str) -> None:
    """Remove empty directories below a path of HDFS, the deepest first; object stores have none."""
    store = filesystem(location)
    entries = store.get_file_info(fs.FileSelector(below, allow_not_found=True, recursive=True))
    directories = sorted((each.path for each in entries if each.type == fs.FileType.Directory), reverse=True)
    for path in directories:
        with contextlib.suppress(OSError):  # it is not empty, or somebody else removed it
            store.delete_file(path)


class DuckFiles(fsspec.AbstractFileSystem):  # type: ignore[misc] # fsspec has no types
    """The files of some tables of a place that DuckDB may read, each by its path with its size in bytes.

    What is read more than `limit_s` seconds after the last `expect`, or the start, is refused, and no request
    takes longer than that: DuckDB cannot interrupt one.
    """

    protocol = PROTOCOL
    cachable = False

    def __init__(self, location: Remote, sizes: Mapping[str, int], limit_s: float) -> None:
        super().__init__()
        own = {name: value for name, value in location.options.items() if not _LIMITS.search(name.lower())}
        limits = {"timeout": f"{limit_s:g}s", "retry_timeout": f"{limit_s:g}s"}
        self._handler = _Handler(location.url, own | limits, dict(sizes))
        self._sizes = sizes
        self.expect(limit_s)

    def expect(self, limit_s: float) -> None:
        """A question begins, and may take so long."""
        self._limit_s, self._until = limit_s, time.monotonic() + limit_s
        self.failure: OSError | None = None  # why a file could not be read: DuckDB tells it in its own way

    def glob(self, path: str, **_: Any) -> list[str]:
        return [path]

    def exists(self, path: str, **_: Any) -> bool:
        return _inner(path) in self._sizes

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "size": self._sizes[_inner(path)], "type": "file"}

    def modified(self, path: str) -> datetime.datetime:  # noqa: ARG002 - fsspec's
        return _WRITTEN

    def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        """Raises OSError, PermissionError where it is to be written."""
        if mode != "rb":
            raise PermissionError(f"{path} is only read")
        with self._noting():
            return _Reading(lambda: self._handler.open_ranges(_inner(path)), self._noting)

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            if time.monotonic() > self._until:
                raise TimeoutError(f"the store did not answer within {self._limit_s:g} s")
            yield
        except OSError as error:
            self.failure = error
            raise


class _Reading:
    """A file that is read in ranges.

    DuckDB's threads share it, and each seeks before it reads: each has a place of its own in it.
    """

    closed = False

    def __init__(self, opened: Callable[[], Any], noting: Callable[[], AbstractContextManager[None]]) -> None:
        self._opened, self._noting = opened, noting
        # By threads' numbers: what is local to a thread of DuckDB's goes with each call.
        self._files: dict[int, Any] = {}

    def seek(self, position: int, whence: int = 0) -> int:
        at: int = self._file.seek(position, whence)
        return at

    def tell(self) -> int:
        at: int = self._file.tell()
        return at

    def read(self, count: int = -1) -> bytes:
        with self._noting():
            data: bytes = self._file.read(count)
        return data

    def close(self) -> None:
        """There is nothing to be closed."""

    @property
    def _file(self) -> Any:
        number = threading.get_ident()
        if number not in self._files:
            self._files[number] = self._opened()
        return self._files[number]


def address(path: str) -> str:
    """A path as DuckDB is told it."""
    return f"{PROTOCOL}://{path}"


def _inner(path: str) -> str:
    return path.removeprefix(f"{PROTOCOL}://")
