"""The files of a ZooKeeper's data directories, wherever pyarrow.fs can open them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
from pyarrow import fs

_ADDRESS = re.compile(r"[a-z][a-z0-9+]*:/")
_VERSION_DIRECTORY: Final = "version-2"


_UNREADABLE: Final = "the file cannot be read: "


class Found(NamedTuple):
    """A file of a directory that was named: where it lies there, its name, the zxid that the name tells.

    `size` in bytes and `modified_ns` (since the epoch, None where nobody knows) are those of when it was
    looked at.
    `place` is what it is called: its name, of several directories with the one that was named.
    """

    directory: str
    path: str
    name: str
    zxid: int
    size: int
    modified_ns: int | None
    place: str


class Listing(NamedTuple):
    """The files of each directory that could be listed, in order, and why others could not."""

    directories: list[list[Found]]
    missing: list[str]


class Directory:
    """A directory of ZooKeeper's files: `version-2`, or the dataDir or dataLogDir that holds it."""

    def __init__(self, path: str) -> None:
        self._given = path
        self._system, self._path = opened(path)

    def files(self, pattern: re.Pattern[str]) -> list[Found]:
        """The files whose whole name matches, by zxid: the pattern's first group, in hexadecimal.

        Raises FileNotFoundError. Sizes are looked at after the names: a file before the last one is complete.
        """
        named = []
        for info in self._listed():
            match = pattern.fullmatch(info.base_name)
            if match:
                named.append((int(match[1], 16), info.path, info.base_name))
        sizes = self._system.get_file_info([path for _, path, _ in named])
        return sorted(
            (
                Found(self._given, path, name, zxid, info.size or 0, info.mtime_ns, name)
                for (zxid, path, name), info in zip(named, sizes, strict=True)
                if info.type != fs.FileType.NotFound
            ),
            key=lambda file: (file.zxid, file.name),
        )

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        """The bytes of a file, from `start` to `end` or as far as they go. Raises OSError."""
        with self._system.open_input_file(path) as file:
            if start:
                file.seek(start)
            data: bytes = file.read() if end is None else file.read(end - start)
            return data

    def _listed(self) -> list[fs.FileInfo]:
        below = f"{self._path.rstrip('/')}/{_VERSION_DIRECTORY}"
        for path in (below, self._path):
            if self._system.get_file_info(path).type == fs.FileType.Directory:
                listed: list[fs.FileInfo] = self._system.get_file_info(fs.FileSelector(path))
                return listed
        raise FileNotFoundError(
            f"{self._given} is no directory: name ZooKeeper's dataDir or dataLogDir, or the version-2 in it"
        )


def listed(paths: Sequence[str], pattern: re.Pattern[str]) -> Listing:
    """The files of several directories, each as `Directory.files` lists them.

    One that cannot be listed leaves the others be. Raises OSError and ValueError where none can be.
    """
    directories: list[list[Found]] = []
    missing: list[str] = []
    for path in paths:
        try:
            files = Directory(path).files(pattern)
        except (OSError, ValueError) as error:
            if len(missing) == len(paths) - 1:
                raise
            missing.append(_unlisted(path, error))
            continue
        if len(paths) > 1:
            files = [file._replace(place=f"{path.rstrip('/')}/{file.name}") for file in files]
        directories.append(files)
    return Listing(directories, missing)


def _unlisted(path: str, error: Exception) -> str:
    if isinstance(error, PermissionError):
        return f"{path} cannot be read: let this user read it ({error.strerror or error})"
    return str(error)


def reason(error: OSError) -> str:
    """Why a file could not be read, without its path."""
    return f"{_UNREADABLE}{error.strerror or str(error).rpartition(': ')[2]}"


def is_unreadable(why: str) -> bool:
    """Whether this is the `reason` of an error: nothing of the file itself was seen."""
    return why.startswith(_UNREADABLE)


def opened(path: str) -> tuple[fs.FileSystem, str]:
    if not _ADDRESS.match(path):
        return fs.LocalFileSystem(), str(Path(path).absolute())
    address = re.sub(r"^file:/+", "file:///", path)
    try:
        system, inside = fs.FileSystem.from_uri(address)
    except pa.ArrowInvalid as error:
        raise FileNotFoundError(f"{path} cannot be opened: {str(error).splitlines()[0]}") from error
    return system, inside
