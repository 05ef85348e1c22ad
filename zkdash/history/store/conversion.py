"""Tables of an earlier release, which a `manifest.json` listed, made into what a Delta log lists.

Their files stay where they are: the log's first commit lists them, and how far each table was. A conversion
that was killed is done again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from zkdash.history.store import derived, files, schemas
from zkdash.history.store.delta import DAY, File, Table, TableError

_MANIFEST: Final = "manifest.json"
_FORMAT: Final = 1
_LEFT: Final = (_MANIFEST, "manifest.draft", "manifest.lock")
# Spark's directory of rows without a day: lives of which only the end was known, which are told no more.
_NO_DAY: Final = "__HIVE_DEFAULT_PARTITION__"


class _File(msgspec.Struct, frozen=True):
    path: str
    rows: int
    bytes: int
    partition: dict[str, str] = {}
    bounds: dict[str, tuple[int, int]] = {}


class _Manifest(msgspec.Struct, frozen=True):
    format: int
    files: tuple[_File, ...] = ()
    streams: dict[str, int] = {}


_DECODER = msgspec.json.Decoder(_Manifest)


class Converted(msgspec.Struct, frozen=True):
    """A table that is one of Delta now: its rows and files."""

    table: str
    rows: int
    files: int


def convert(directory: Path) -> list[Converted]:
    """Convert the tables of a cluster that are not converted yet. Nobody may write them meanwhile.

    Raises TableError.
    """
    done = []
    for name in (*schemas.TABLES, *derived.TABLES, *schemas.INNER):
        path = directory / name / _MANIFEST
        if not path.exists():
            continue
        table = Table(directory / name)
        if not _is_converted(table):
            manifest = _read(path)
            kept = [file for file in manifest.files if file.partition.get(DAY) != _NO_DAY]
            table.create([_listed(table, file) for file in kept], manifest.streams)
            done.append(Converted(name, sum(file.rows for file in kept), len(kept)))
        for left in _LEFT:
            (table.directory / left).unlink(missing_ok=True)
    return done


def _is_converted(table: Table) -> bool:
    """Whether a conversion came as far as the commit, and not as far as to delete the manifest."""
    try:
        return table.version() >= 0
    except TableError:
        if table.has_log:
            raise
        return False


def _read(path: Path) -> _Manifest:
    try:
        manifest = _DECODER.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise TableError(
            f"{path} cannot be read ({error}): restore it, or remove the table's directory and run again"
        ) from error
    if manifest.format != _FORMAT:
        raise TableError(f"{path} has format {manifest.format}, where {_FORMAT} is known: upgrade zkdash")
    return manifest


def _listed(table: Table, file: _File) -> File:
    """With statistics of now: those of the manifest leave out what is nowhere but in some parts of a file."""
    try:
        bounds = files.bounds(pq.read_metadata(table.directory / file.path))
    except (OSError, pa.ArrowException) as error:
        raise TableError(
            f"{table.directory / file.path} cannot be read ({error}): restore it, "
            "or remove the table's directory and run again"
        ) from error
    return File(file.path, file.rows, file.bytes, file.partition, bounds)
