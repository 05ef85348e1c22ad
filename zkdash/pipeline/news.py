"""Whether there is anything new for a run, told without Spark: by names, sizes and times of files, and by the
numbers of tables' versions.

A run notes what it saw before it read, and the versions of what it made. As long as all of that is as it was,
another run would find nothing. What cannot be told counts as new.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from zkdash.history.places.location import Location
from zkdash.history.store import derived, schemas, tables, watching
from zkdash.history.store.delta import Table
from zkdash.zk.config import ClusterConfig

# What derivations read and others than they write. What a recorder saw counts where no log was read.
_LOADED: Final = "coverage"
_READ: Final = (_LOADED, "log_ends")
_MADE: Final = tuple(name for name in (*derived.TABLES, *schemas.INNER) if name != "log_ends")
# A file that is written twice within a tick of the file system's clock looks the same after both.
_TICK_NS: Final = 2_000_000_000
_ZOOKEEPERS: Final = re.compile(r"(log|snapshot)\.[0-9a-f]{1,16}(\.\w+)?")
_LOG: Final = re.compile(r".+-\d{1,9}")
_SEGMENT: Final = re.compile(r"\d{20}\.(log|kafka)")
_MOST_FILES: Final = 20_000  # of more a look costs more than it may


class Seen(msgspec.Struct, frozen=True):
    """What a run saw: a digest of the files before it read them, "" where that tells nothing; the versions of
    tables before it derived from them; those of derived tables after it.
    """

    files: str
    read: Mapping[str, int]
    made: Mapping[str, int]


def of(metrics: Mapping[str, Any]) -> Seen | None:
    """What a run saw, by its metrics; None where it did not note it."""
    seen: Any = metrics.get("seen")
    try:
        return Seen(str(seen["files"]), dict(seen["read"]), dict(seen["made"]))
    except (KeyError, TypeError, ValueError):
        return None


def is_new(seen: Seen, cluster: ClusterConfig, directory: Location, *, loads: bool = True) -> bool:
    """Whether a run may find more than the one that saw this. `loads` says whether files count."""
    return (
        read(directory) != seen.read
        or made(directory) != seen.made
        or (loads and (not seen.files or files(cluster) != seen.files))
    )


def read(directory: Location) -> dict[str, int]:
    """The versions of the tables that are derived from."""
    versions = _versions(directory, _READ)
    if versions[_LOADED] < 0:
        versions |= _versions(directory, (watching.NAME,))
    return versions


def made(directory: Location) -> dict[str, int]:
    """The versions of the tables that are derived."""
    return _versions(directory, _MADE)


def _versions(directory: Location, names: Sequence[str]) -> dict[str, int]:
    versions = tables.each(directory, lambda name: Table(directory / name).version(), names)
    return dict(zip(names, versions, strict=True))


def files(cluster: ClusterConfig, *, now_ns: int | None = None) -> str:
    """A digest of the files that a cluster names; "" where one changed just now, or they cannot be listed."""
    now_ns = time.time_ns() if now_ns is None else now_ns
    digest = hashlib.sha256()
    try:
        for number, (path, size, changed_ns) in enumerate(_listed(cluster)):
            if number == _MOST_FILES or changed_ns is None or changed_ns > now_ns - _TICK_NS:
                return ""
            digest.update(f"{path}\0{size}\0{changed_ns}\n".encode(errors="surrogateescape"))
    except (OSError, ValueError):
        return ""
    digest.update(f"{cluster.chroot}\0{cluster.transaction_logs}\0{cluster.segments}".encode())
    return digest.hexdigest()


def _listed(cluster: ClusterConfig) -> Iterator[tuple[str, int, int | None]]:
    """Path, bytes and when it was changed of each file that a load may read, in the order of their paths."""
    for directory in sorted({*cluster.transaction_logs, *cluster.snapshots}):
        yield from _below(directory, re.compile("version-2"), _ZOOKEEPERS)
    for place in (path for broker in cluster.segments for path in broker.directories):
        yield from _below(place, _LOG, _SEGMENT)


def _below(
    place: str, within: re.Pattern[str], wanted: re.Pattern[str]
) -> Iterator[tuple[str, int, int | None]]:
    """Files of a directory, and of those directories in it, by their whole names."""
    from pyarrow import fs  # noqa: PLC0415 - with the first look

    from zkdash.pipeline.sources import files as places  # noqa: PLC0415 - as above

    system, path = places.opened(place)
    listed: Iterable[fs.FileInfo] = system.get_file_info(fs.FileSelector(path))
    directories = [info.path for info in listed if info.type == fs.FileType.Directory]
    for name in sorted(name for name in directories if within.fullmatch(name.rpartition("/")[2])):
        listed = [*listed, *system.get_file_info(fs.FileSelector(name))]
    for info in sorted(listed, key=lambda info: info.path):
        if info.type == fs.FileType.File and wanted.fullmatch(info.base_name):
            yield info.path, info.size or 0, info.mtime_ns
