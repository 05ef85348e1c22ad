"""Where a Spark session of this machine puts what it needs for a while: a directory a process.

A JVM that is killed leaves its files there. A directory belongs to a process as long as its lock is held,
which the kernel lets go of with the process: what belongs to nobody is deleted by whoever comes next.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from pathlib import Path
from typing import Final

_LOCK: Final = "lock"


def own(root: Path) -> Path:
    """A new directory below `root` for this process, after those of processes that ended are deleted."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / _LOCK).open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        for path in root.iterdir():
            if path.name != _LOCK and not _is_owned(path):
                shutil.rmtree(path, ignore_errors=True)
        directory = root / f"{os.getpid()}-{secrets.token_hex(4)}"
        directory.mkdir()
        lock = os.open(directory / _LOCK, os.O_WRONLY | os.O_CREAT)  # open as long as this process lives
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return directory


def _is_owned(directory: Path) -> bool:
    with contextlib.suppress(NotADirectoryError), (directory / _LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
