"""The options of a source, as Spark hands them over: all of them text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from zkdash.history.store import coverage
from zkdash.history.store.coverage import Stretch


class Options(NamedTuple):
    """path: a directory, or a JSON list of directories, of servers of one ensemble.

    chroot: the cluster's, "" for none; only what is below it is read, and stripped. dbid: logs of another one
    are foreign (servers write 0). since: transactions up to this zxid are left out. loaded: so are these, a
    JSON list of [first, last]. files: only these are read, a JSON list of places (`files.Found`).
    """

    path: tuple[str, ...]
    chroot: str = ""
    since: int = 0
    dbid: int = 0
    loaded: tuple[Stretch, ...] = ()
    files: frozenset[str] | None = None

    @property
    def skipped(self) -> list[Stretch]:
        """The transactions that are left out, as `coverage.exact` makes them."""
        return coverage.exact([(coverage.LEAST, self.since), *self.loaded])


def written(paths: str | Sequence[str]) -> str:
    """One path or several as the option `path`."""
    several = [paths] if isinstance(paths, str) else list(paths)
    is_plain = len(several) == 1 and not several[0].startswith("[")
    return several[0] if is_plain else json.dumps(several)


def parse(given: Mapping[str, str]) -> Options:
    """Raises ValueError, which names the option."""
    options = {name.lower(): value for name, value in given.items()}
    unknown = options.keys() - set(Options._fields)
    if unknown:
        raise ValueError(f"there is no option {min(unknown)!r}; there are {', '.join(Options._fields)}")
    path, chroot = options.get("path", ""), options.get("chroot", "").rstrip("/")
    paths = _listed(options, "path", str) if path.startswith("[") else (path,) * bool(path)
    if not paths:
        raise ValueError("the option 'path' is missing: name a ZooKeeper's dataDir or dataLogDir")
    if chroot and not chroot.startswith("/"):
        raise ValueError(f"chroot={chroot!r} must begin with /")
    return Options(
        paths,
        chroot,
        _number(options, "since"),
        _number(options, "dbid"),
        tuple(Stretch(*pair) for pair in _listed(options, "loaded", list)),
        frozenset(_listed(options, "files", str)) if "files" in options else None,
    )


def _listed(options: Mapping[str, str], name: str, kind: type[Any]) -> tuple[Any, ...]:
    text = options.get(name, "[]")
    try:
        items = json.loads(text)
    except ValueError:
        items = None
    if not isinstance(items, list) or not all(isinstance(item, kind) for item in items):
        raise ValueError(f"{name}={text[:100]!r} is no list in JSON")
    return tuple(items)


def _number(options: Mapping[str, str], name: str) -> int:
    text = options.get(name, "0")
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"{name}={text!r} is not a number: 1234 or 0x4d2") from None
