"""The options of a source, as Spark hands them over: all of them text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Options(NamedTuple):
    """path: a directory. chroot: the cluster's, "" for none; only what is below it is read, and stripped.

    since: transactions up to this zxid are left out. dbid: logs of another one are foreign (servers write 0).
    """

    path: str
    chroot: str = ""
    since: int = 0
    dbid: int = 0


def parse(given: Mapping[str, str]) -> Options:
    """Raises ValueError, which names the option."""
    options = {name.lower(): value for name, value in given.items()}
    unknown = options.keys() - set(Options._fields)
    if unknown:
        raise ValueError(f"there is no option {min(unknown)!r}; there are {', '.join(Options._fields)}")
    path, chroot = options.get("path", ""), options.get("chroot", "").rstrip("/")
    if not path:
        raise ValueError("the option 'path' is missing: name a ZooKeeper's dataDir or dataLogDir")
    if chroot and not chroot.startswith("/"):
        raise ValueError(f"chroot={chroot!r} must begin with /")
    return Options(path, chroot, _number(options, "since"), _number(options, "dbid"))


def _number(options: Mapping[str, str], name: str) -> int:
    text = options.get(name, "0")
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"{name}={text!r} is not a number: 1234 or 0x4d2") from None
