"""The jars of a lock file on this machine: fetched once, checked by sha256 every time.

Kept by their sha256 in the user's cache, outside the tree, so that releases and checkouts share them.
Several processes may fetch at once: a jar's `.part` file is locked while it grows, and an interrupted
download goes on where it stopped.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import http.client
import os
import urllib.error
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from tests.lab import lock, maven
from tests.lab.lock import Jar
from tests.lab.maven import Repository
from tests.lab.releases import Release

WORKERS = 8
ATTEMPTS = 4
TIMEOUT_S = 30.0
_CHUNK = 1 << 16


class UnavailableError(Exception):
    """Jars could not be had: one line for each, with its coordinate, its URL and what answered."""


class _CutError(Exception):
    """The answer ended early or the connection failed: worth another attempt."""


def cache(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder that keeps jars on this machine."""
    home = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home(), ".cache")
    return Path(home, "zkdash", "jars")


@functools.cache
def classpath(release: Release) -> Sequence[Path]:
    """A release's jars on this machine, checked once a process. Raises UnavailableError."""
    return tuple(fetch(lock.read(release.lock), maven.repository(), folder=cache()))


def fetch(jars: Iterable[Jar], repository: Repository, *, folder: Path) -> list[Path]:
    """Return the jars as files, in order, fetching those that `folder` lacks or holds corrupt.

    Raises UnavailableError, after all have been tried, naming every jar that could not be had.
    """
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="jars") as pool:
        results = list(pool.map(lambda jar: _one(jar, repository, folder), jars))
    failures = [str(result) for result in results if isinstance(result, UnavailableError)]
    if failures:
        raise UnavailableError("\n".join(failures))
    return [result for result in results if isinstance(result, Path)]


def _one(jar: Jar, repository: Repository, folder: Path) -> Path | UnavailableError:
    path = folder / jar.sha256 / jar.coordinate.file_name
    if _matches(path, jar):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.part").open("ab") as part:
        fcntl.flock(part, fcntl.LOCK_EX)
        if _matches(path, jar):  # somebody else was faster
            return path
        try:
            _download(jar, repository, part)
        except UnavailableError as error:
            return error
        Path(part.name).replace(path)
    return path


def _download(jar: Jar, repository: Repository, part: IO[bytes]) -> None:
    """Fill `part` with the jar, going on from what it holds. Raises UnavailableError."""
    for attempt in range(ATTEMPTS):
        try:
            resumed = _append(jar, repository, part)
        except _CutError as error:
            if attempt == ATTEMPTS - 1:
                raise _unavailable(jar, repository, str(error)) from error
            continue
        size, sha256 = _measure(Path(part.name))
        if (size, sha256) == (jar.size, jar.sha256):
            return
        part.truncate(0)
        if not resumed:
            raise _unavailable(
                jar,
                repository,
                f"sent {size} bytes with sha256 {sha256}; the lock file says {jar.size} with {jar.sha256}. "
                "Nothing was run: find out which is right before you lock it anew",
            )
    raise _unavailable(jar, repository, "sent parts that do not fit together")


def _append(jar: Jar, repository: Repository, part: IO[bytes]) -> bool:
    """Ask for what `part` lacks and append it; True where it began with an earlier part.

    Raises _CutError where it is worth asking again, UnavailableError where it is not.
    """
    start = os.fstat(part.fileno()).st_size
    if start >= jar.size:
        return True
    request = repository.request(jar.coordinate)
    if start:
        request.add_header("Range", f"bytes={start}-")
    try:
        with repository.opener().open(request, timeout=TIMEOUT_S) as answer:
            if start and answer.status != http.HTTPStatus.PARTIAL_CONTENT:
                part.truncate(0)
                start = 0
            while chunk := answer.read(_CHUNK):
                part.write(chunk)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.truncate(0)
            elif error.code < http.HTTPStatus.INTERNAL_SERVER_ERROR:
                raise _unavailable(jar, repository, f"answered {error.code} {error.reason}") from error
            raise _CutError(f"answered {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise _CutError(f"could not be read: {getattr(error, 'reason', None) or error}") from error
    finally:
        part.flush()
    got = os.fstat(part.fileno()).st_size
    if got < jar.size:
        raise _CutError(f"ended after {got} of {jar.size} bytes")
    return start > 0


def _matches(path: Path, jar: Jar) -> bool:
    try:
        return path.stat().st_size == jar.size and _measure(path)[1] == jar.sha256
    except FileNotFoundError:
        return False


def _measure(path: Path) -> tuple[int, str]:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), sha256


def _unavailable(jar: Jar, repository: Repository, what: str) -> UnavailableError:
    return UnavailableError(f"{jar.coordinate}: {repository.address(jar.coordinate)} {what}.")
