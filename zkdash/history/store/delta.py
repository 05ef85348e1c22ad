"""A table is what its Delta log lists: nothing half-written is ever read.

Files are written below the table's directory, then one commit of the log lists them, takes others off, and
moves positions on, all at once (https://github.com/delta-io/delta/blob/master/PROTOCOL.md). A crash at any
point leaves the table as it was; what it left behind is deleted by `vacuum`. Writers need no lock: of two
that commit at once, one is told so (decision 0023). deltalake is imported with the first table that is
there: whoever never asks the past does without its memory.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from zkdash import program
from zkdash.history.places.location import Location, Remote
from zkdash.history.store import delta_errors as errors
from zkdash.history.store import delta_log
from zkdash.history.store.delta_errors import LOG, ConflictError, TableError
from zkdash.history.store.delta_log import DAY, GRACE_MS, File, TableVersion
from zkdash.time_units import HOUR_MS

if TYPE_CHECKING:
    import deltalake
    import pyarrow as pa
    from deltalake.transaction import AddAction, RemoveAction

__all__ = ["DAY", "GRACE_MS", "LOG", "ConflictError", "File", "Table", "TableError", "TableVersion"]

SMALL_BYTES: Final = 16 << 20
DATA: Final = "data"  # below a table's directory: what runs write
_OLD: Final = "manifest.json"  # what listed a table's files before there was a log
_ENOUGH: Final = 8
_ATTEMPTS: Final = 5
_COMMIT: Final = re.compile(r"([0-9]{20})\.(?:json|checkpoint.*\.parquet)")
_READER: Final = 1  # the protocol's version for readers that only need the listed files


class Table:
    """One table in a directory of its own, which need not exist yet; its name says its columns."""

    def __init__(self, location: Location) -> None:
        self.location = location

    @property
    def name(self) -> str:
        return self.location.name

    @property
    def directory(self) -> Path:
        """That of a table of this machine."""
        assert isinstance(self.location, Path)  # noqa: S101 - whoever asks has looked
        return self.location

    @property
    def _address(self) -> dict[str, Any]:
        """As deltalake takes it."""
        if isinstance(self.location, Remote):
            return {"table_uri": self.location.url, "storage_options": self.location.options}
        return {"table_uri": self.directory}

    @property
    def has_log(self) -> bool:
        """Whether a table of this machine is one of Delta, or begins to be."""
        return (self.directory / LOG).exists()

    def read(self) -> TableVersion:
        """The table now. Raises TableError."""
        return TableVersion(self._open(), self.location)

    def version(self) -> int:
        """That of its log; -1 where there is none. Of a table of this machine names alone tell it.

        To list names elsewhere, deltalake would keep all threads of the process waiting. Raises TableError.
        """
        if isinstance(self.location, Remote) or not self.has_log:
            return self.read().version
        numbers = (_COMMIT.fullmatch(path.name) for path in (self.directory / LOG).iterdir())
        return max((int(number[1]) for number in numbers if number), default=-1)

    def paths(self, version: TableVersion | None = None) -> list[Path]:
        """The listed files of a table of this machine."""
        return [self.directory / file.path for file in (version or self.read()).files]

    def staging(self) -> Location:
        """A directory, yet to be made, in which this attempt at a run writes its files, and no other does.

        An attempt that was killed may have left a JVM behind that still writes for a while.
        """
        return self.location / DATA / secrets.token_hex(8)

    def append(
        self,
        files: Iterable[File],
        *,
        stream: str = "",
        batch: int = 0,
        base: TableVersion | None = None,
        positions: Mapping[str, int] = {},
        rows: pa.Table | None = None,
    ) -> None:
        """List more files, and `rows`, which deltalake writes; and move `positions` on.

        A stream's batch that is in the table already adds nothing: it ran twice. Raises TableError, and
        ConflictError where the stream is no longer where it is in `base`.
        """
        added = list(files)
        for attempt in range(_ATTEMPTS):
            now = self._made()
            position = now.position(stream) if stream else None
            if base is not None and position != base.position(stream):
                raise ConflictError(f"another run wrote {self.location} meanwhile")
            if position is not None and position >= batch:
                return
            try:
                moved = {**positions, **({stream: batch} if stream else {})}
                if rows is None or not rows.num_rows:
                    self._commit(now, [], added, moved)
                else:
                    self._write(now, rows, moved)
            except ConflictError:
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def replace(
        self,
        base: TableVersion,
        removed: Iterable[File],
        added: Iterable[File],
        *,
        positions: Mapping[str, int] = {},
    ) -> None:
        """List `added` instead of `removed`, as decided by looking at `base`; `positions` move on with it.

        Raises TableError, and ConflictError where the table is no longer `base`.
        """
        now = self._made() if base.version < 0 else self.read()
        if now.version != max(base.version, 0):
            raise ConflictError(
                f"{self.location} is at version {now.version}, not {base.version}: another run wrote it"
            )
        self._commit(now, list(removed), list(added), positions)

    def delete(self, predicate: str) -> int:
        """Delete the rows that an SQL predicate is true of; how many files left the list or were rewritten.

        Memory: some batches of rows at a time. Raises TableError, ConflictError.
        """
        before = self.read()
        gone = 0
        for attempt in range(_ATTEMPTS):
            log = self._open()
            if log is None:
                break
            try:
                with errors.told(self.location):
                    done = log.delete(predicate, writer_properties=delta_log.writing())
                gone = int(done["num_removed_files"])
                break
            except ConflictError:
                if attempt == _ATTEMPTS - 1:
                    raise
        if gone:
            self._sync(before)
        return gone

    def compact(self, *, small_bytes: int = SMALL_BYTES) -> int:
        """Put few files in place of each partition's small ones, where there are many; how many went.

        Memory: some batches of rows at a time. Raises TableError, and ConflictError where somebody else took
        a file away meanwhile: nothing changed then, try again later.
        """
        counts: dict[str | None, int] = {}
        now = self.read()
        for file in now.files:
            if file.bytes < small_bytes:
                day = file.partition.get(DAY)
                counts[day] = counts.get(day, 0) + 1
        gone = 0
        for day in [day for day, count in counts.items() if count >= _ENOUGH]:
            log = self._open()
            assert log is not None  # noqa: S101 - it has files
            with errors.told(self.location):
                done = log.optimize.compact(
                    partition_filters=None if day is None else [(DAY, "=", day)],
                    target_size=small_bytes,
                    max_concurrent_tasks=1,
                    writer_properties=delta_log.writing(),
                )
            gone += int(done["numFilesRemoved"])
        if gone:
            self._sync(now)
        return gone

    def vacuum(self, *, grace_ms: int = GRACE_MS) -> int:
        """Delete files that were taken off the list, or never were on it, longer than the grace ago.

        Returns how many. A run that writes must not rest as long as the grace, which is GRACE_MS or 0.
        """
        log = self._open()
        if log is None:
            return 0
        hours = None if grace_ms == GRACE_MS else grace_ms // HOUR_MS
        with errors.told(self.location):
            deleted = log.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)
        if not isinstance(self.location, Remote):
            for path in sorted((self.directory / DATA).rglob("*"), reverse=True):
                if path.is_dir() and path.stat().st_mtime_ns // 1_000_000 <= _now_ms() - grace_ms:
                    with contextlib.suppress(OSError):  # it is not empty
                        path.rmdir()
        return len(deleted)

    def sweep(self) -> None:
        """Remove empty directories that `vacuum` leaves in HDFS. All threads of the process wait for it."""
        if isinstance(self.location, Remote) and self.location.is_hdfs:
            from zkdash.history.places import remote  # noqa: PLC0415 - Arrow and deltalake

            with errors.told(self.location):
                remote.remove_empty(self.location, DATA)

    def create(self, files: Iterable[File], positions: Mapping[str, int]) -> None:
        """Make the table of files that lie below it already, in one commit. Raises TableError."""
        import deltalake  # noqa: PLC0415 - see the module
        from deltalake.transaction import create_table_with_add_actions  # noqa: PLC0415

        schema, keys = delta_log.layout(self.name)
        with errors.told(self.location):
            create_table_with_add_actions(
                str(self.directory),
                deltalake.Schema.from_arrow(schema),
                [delta_log.added(file, _now_ms()) for file in files],
                partition_by=keys,
                configuration=delta_log.configuration(schema),
                commit_properties=delta_log.properties(positions),
            )
        self._sync()

    def _open(self) -> deltalake.DeltaTable | None:
        if isinstance(self.location, Path) and not self.has_log:
            if (self.directory / _OLD).exists():
                cluster = self.directory.parent.name
                raise TableError(
                    f"{self.directory} is a table of an earlier release: run "
                    f"`{program.line(f'pipeline convert --cluster {cluster}')}`"
                )
            return None
        try:
            import deltalake  # noqa: PLC0415 - see the module
            from deltalake.exceptions import TableNotFoundError  # noqa: PLC0415
        except ImportError as error:  # where a process may have no more, its library finds no room
            raise MemoryError(str(error)) from error

        with errors.told(self.location):
            try:
                log = deltalake.DeltaTable(**self._address)
            except TableNotFoundError:  # its first commit is yet to come
                return None
            version = log.protocol().min_reader_version
        if version > _READER:
            raise TableError(
                f"{self.location} needs version {version} of the Delta protocol, where {_READER} is read: "
                "somebody else wrote it; rewrite it without features for readers"
            )
        return log

    def _made(self) -> TableVersion:
        """The table now, which is made where it is not there."""
        now = self.read()
        if now.version >= 0:
            return now
        import deltalake  # noqa: PLC0415 - see the module

        schema, keys = delta_log.layout(self.name)
        # Of two that make it at once, one is told so.
        with contextlib.suppress(ConflictError), errors.told(self.location):
            deltalake.DeltaTable.create(
                self._address["table_uri"],
                schema,
                mode="ignore",
                storage_options=self._address.get("storage_options"),
                partition_by=keys,
                configuration=delta_log.configuration(schema),
            )
        return self.read()

    def _commit(
        self, base: TableVersion, removed: list[File], added: list[File], positions: Mapping[str, int]
    ) -> None:
        log, now_ms = base.log, _now_ms()
        assert log is not None  # noqa: S101 - it was made
        actions: list[AddAction | RemoveAction] = [delta_log.removed(file, now_ms) for file in removed]
        actions += [delta_log.added(file, now_ms) for file in added]
        with errors.told(self.location):
            log.create_write_transaction(
                actions,
                "append",
                log.schema(),
                delta_log.layout(self.name)[1],
                commit_properties=delta_log.properties(positions),
            )
        self._sync()

    def _write(self, base: TableVersion, rows: pa.Table, positions: Mapping[str, int]) -> None:
        """Write rows and list them. What is not listed after all `vacuum` finds."""
        import deltalake  # noqa: PLC0415 - see the module

        assert base.log is not None  # noqa: S101 - it was made
        with errors.told(self.location):
            deltalake.write_deltalake(
                base.log,
                rows,
                mode="append",
                writer_properties=delta_log.writing(),
                commit_properties=delta_log.properties(positions),
            )
        self._sync()

    def _sync(self, before: TableVersion | None = None) -> None:
        """Have the newest commit on the disk, and the files that are listed since `before`.

        A system that loses its power loses what it was told lately.
        """
        if isinstance(self.location, Remote):
            return  # it answers once it has it
        log = self.directory / LOG
        newest = max(log.glob("*.json"), default=None)
        new = set(self.paths()) - set(self.paths(before)) if before is not None else ()
        for path in (*new, newest, log) if newest else ():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
