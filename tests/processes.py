"""What tests give to processes of ours, and ask about those that are not their children."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def inherited() -> dict[str, str]:
    """What of this process's environment another one of ours may have: nothing that configures it."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ZKDASH_")}
    environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # the browser's tests need it, serve must not
    return environ


def children(pid: int) -> list[int]:
    """The processes that a process started, of those that it has not waited for.

    Not by /proc/*/task/*/children, which leaves some out while threads end.
    """
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            _state, parent, *_ = (process / "stat").read_text().rpartition(")")[2].split()
            if int(parent) == pid:
                found.append(int(process.name))
    return found


def is_running(pid: int) -> bool:
    """Whether the process lives: one that ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter where it ends while it is read
        return False


def is_stopped(pid: int) -> bool:
    """Whether the process was stopped by a signal, and may go on by another."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
