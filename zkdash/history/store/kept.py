"""Parts of a cluster's tables that are kept apart: small ones of the same names, left alone by retention.

They lie in `kept/<number>-<first>-<last>-<from>-<to>/` beside the tables: the transactions (hexadecimal) and
the time (epoch ms) that each tells of. The number is that of the bookmark which keeps it.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from zkdash.history.places.location import Location, local

DIRECTORY: Final = "kept"
_NAME: Final = re.compile(r"(\d{1,18})-([0-9a-f]{1,16})-([0-9a-f]{1,16})-(\d{1,18})-(\d{1,18})", re.ASCII)


class Part(NamedTuple):
    """A part that is kept: what is told by it, and where its tables lie."""

    number: int
    first_zxid: int
    last_zxid: int
    from_ms: int
    to_ms: int
    directory: Path

    def holds(self, time_ms: int | None, zxid: int | None) -> bool:
        """Whether it may tell a time or a transaction."""
        if time_ms is not None:
            return self.from_ms <= time_ms <= self.to_ms
        return zxid is not None and self.first_zxid <= zxid <= self.last_zxid


def parts(directory: Location) -> list[Part]:
    """Those of the cluster whose tables lie below `directory`, the newest first."""
    try:
        named = [(each, _NAME.fullmatch(each.name)) for each in _below(directory).iterdir()]
    except FileNotFoundError:
        return []
    made = [
        Part(int(name[1]), int(name[2], 16), int(name[3], 16), int(name[4]), int(name[5]), path)
        for path, name in named
        if name is not None
    ]
    return sorted(made, reverse=True)


def staging(directory: Location, number: int) -> Path:
    """Where the tables of a part are written, until `publish`."""
    path = _below(directory) / f".{number}"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def publish(directory: Location, part: Part) -> None:
    """Have a part be told of, whose tables lie in `part.directory`. Raises OSError."""
    name = f"{part.number}-{part.first_zxid:x}-{part.last_zxid:x}-{part.from_ms}-{part.to_ms}"
    part.directory.rename(_below(directory) / name)


def remove(directory: Location, number: int) -> None:
    """Delete a part, whether it is whole or not. Raises OSError."""
    for part in parts(directory):
        if part.number == number:
            shutil.rmtree(part.directory)
    shutil.rmtree(_below(directory) / f".{number}", ignore_errors=True)


def _below(directory: Location) -> Path:
    """They are this machine's, wherever the tables lie."""
    return local(directory) / DIRECTORY
