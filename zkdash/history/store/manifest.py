"""A table is what its `manifest.json` lists: nothing half-written is ever read.

Files are written below `data/<run>.<attempt>/`, then the manifest is replaced by an atomic rename. A crash at
any point leaves the table as it was; what it left behind is swept later. Writers exclude each other by a
lock on a file that the kernel lets go of when they die. Rename and lock hold on local file systems and on
NFS 4; on object stores neither does, so a table's directory must not lie on one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

FORMAT: Final = 1
GRACE_MS: Final = 15 * 60 * 1000
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,127}")


class ManifestError(ValueError):
    """A manifest cannot be read; the message names it and says what to do."""


class ConflictError(RuntimeError):
    """Another writer changed the table meanwhile: read it again."""


class File(msgspec.Struct, frozen=True):
    """A listed file: path below the table's directory, rows, bytes, and the run that wrote it.

    `partition` are the values that its directory names tell. `bounds` are the least and the greatest value
    of whole-number columns, so that readers need not open what they do not ask for.
    """

    path: str
    rows: int
    bytes: int
    run: str
    partition: Mapping[str, str] = {}
    bounds: Mapping[str, tuple[int, int]] = {}


class Retired(msgspec.Struct, frozen=True):
    """A file that is no longer listed and will be deleted: a reader may still hold an older list."""

    path: str
    since_ms: int


class Manifest(msgspec.Struct, frozen=True):
    """A table at one moment. `streams` maps a stream's name to its last batch that is in the table."""

    format: int = FORMAT
    generation: int = 0
    files: tuple[File, ...] = ()
    streams: Mapping[str, int] = {}
    retired: tuple[Retired, ...] = ()

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


_DECODER = msgspec.json.Decoder(Manifest)


class Table:
    """One table in a directory of its own, which need not exist yet."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def name(self) -> str:
        return self.directory.name

    @property
    def path(self) -> Path:
        """Where the manifest is."""
        return self.directory / "manifest.json"

    def read(self) -> Manifest:
        """The table now; generation 0 and empty where nothing was written. Raises ManifestError."""
        try:
            manifest = _DECODER.decode(self.path.read_bytes())
        except FileNotFoundError:
            return Manifest()
        except (OSError, msgspec.DecodeError) as error:
            raise ManifestError(
                f"{self.path} cannot be read ({error}): restore it, "
                "or remove the table's directory and run again"
            ) from error
        if manifest.format != FORMAT:
            raise ManifestError(
                f"{self.path} has format {manifest.format}, where {FORMAT} is known: upgrade zkdash"
            )
        return manifest

    def paths(self, manifest: Manifest | None = None) -> list[Path]:
        """The listed files."""
        return [self.directory / file.path for file in (manifest or self.read()).files]

    def staging(self, run: str) -> Path:
        """A directory, yet to be made, in which this attempt at a run writes its files, and no other does.

        An attempt that was killed may have left a JVM behind that still writes for a while.
        Raises ConflictError where the table lists files of this run already.
        """
        if not _RUN.fullmatch(run):
            raise ValueError(f"{run!r} is not a name for a run: letters, digits and . _ = - only")
        self._check_new(self.read(), run)
        directory = self.directory / "data" / f"{run}.{secrets.token_hex(4)}"
        directory.parent.mkdir(parents=True, exist_ok=True)
        return directory

    def append(self, files: Iterable[File], *, stream: str = "", batch: int = 0) -> Manifest:
        """List more files. A stream's batch that is in the table already adds nothing: it ran twice.

        Raises ConflictError where the table lists files of a run already that is no stream's.
        """
        added = tuple(files)

        def change(now: Manifest) -> Manifest:
            if stream and now.streams.get(stream, -1) >= batch:
                return now
            for run in {file.run for file in added}:
                self._check_new(now, run)
            streams = {**now.streams, stream: batch} if stream else now.streams
            return msgspec.structs.replace(now, files=now.files + added, streams=streams)

        return self._commit(change)

    def replace(
        self,
        base: Manifest,
        removed: Iterable[File],
        added: Iterable[File],
        *,
        now_ms: int,
        streams: Mapping[str, int] = {},
    ) -> Manifest:
        """List `added` instead of `removed`, as decided by looking at `base`; `streams` moves on with it.

        Raises ConflictError where the table is no longer `base`.
        """
        gone, new = {file.path for file in removed}, tuple(added)

        def change(now: Manifest) -> Manifest:
            if now.generation != base.generation:
                raise ConflictError(
                    f"{self.directory} is at generation {now.generation}, not {base.generation}: "
                    "another run wrote it"
                )
            kept = tuple(file for file in now.files if file.path not in gone)
            retired = now.retired + tuple(Retired(path, now_ms) for path in sorted(gone))
            moved = {**now.streams, **streams}
            return msgspec.structs.replace(now, files=kept + new, retired=retired, streams=moved)

        return self._commit(change)

    def replace_partitions(
        self, base: Manifest, added: Iterable[File], *, keys: Iterable[str], now_ms: int
    ) -> Manifest:
        """List `added` instead of every file in a partition that one of them is in, told by `keys`.

        Without keys the whole table is replaced.
        """
        new, names = tuple(added), tuple(keys)
        written = {tuple(file.partition.get(name) for name in names) for file in new} if names else {()}
        removed = [f for f in base.files if tuple(f.partition.get(name) for name in names) in written]
        return self.replace(base, removed, new, now_ms=now_ms)

    def retire(self, column: str, below: int, *, now_ms: int) -> int:
        """Take files off the list whose every row is below a bound of a column; how many.

        They stay for readers that hold an older list, until `sweep`.
        """
        base = self.read()
        old = [file for file in base.files if column in file.bounds and file.bounds[column][1] < below]
        if old:
            self.replace(base, old, (), now_ms=now_ms)
        return len(old)

    def sweep(self, *, now_ms: int, grace_ms: int = GRACE_MS) -> int:
        """Delete files that were taken off the list, or never were on it, longer than the grace ago.

        Returns how many. A run that writes must not rest as long as the grace.
        """
        limit = now_ms - grace_ms
        with self._locked():
            now = self.read()
            due = {retired.path for retired in now.retired if retired.since_ms <= limit}
            if due:
                left = tuple(retired for retired in now.retired if retired.path not in due)
                self._write(msgspec.structs.replace(now, retired=left, generation=now.generation + 1))
            listed = {file.path for file in now.files} | {r.path for r in now.retired if r.path not in due}
            return self._delete_unknown(listed, due, limit)

    def _check_new(self, now: Manifest, run: str) -> None:
        if any(file.run == run for file in now.files):
            raise ConflictError(f"{self.directory} holds the files of run {run} already")

    def _delete_unknown(self, listed: set[str], due: set[str], limit_ms: int) -> int:
        deleted = 0
        data = self.directory / "data"
        for path in sorted(data.rglob("*"), reverse=True) if data.exists() else ():
            relative = path.relative_to(self.directory).as_posix()
            if relative in listed or not (relative in due or _is_older(path, limit_ms)):
                continue
            if path.is_dir():
                with contextlib.suppress(OSError):  # it is not empty
                    path.rmdir()
            else:
                path.unlink()
                deleted += 1
        return deleted

    def _commit(self, change: Callable[[Manifest], Manifest]) -> Manifest:
        with self._locked():
            now = self.read()
            after = change(now)
            if after is not now:
                after = msgspec.structs.replace(after, generation=now.generation + 1)
                self._write(after)
            return after

    def _write(self, manifest: Manifest) -> None:
        draft = self.directory / "manifest.draft"  # only one writer at a time: the lock is held
        with draft.open("wb") as file:
            file.write(msgspec.json.encode(manifest))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
        directory = os.open(self.directory, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "manifest.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _is_older(path: Path, limit_ms: int) -> bool:
    return path.stat().st_mtime_ns // 1_000_000 <= limit_ms
