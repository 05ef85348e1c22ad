"""One writer a cluster: locks on files that the kernel lets go of when a process dies.

The database says who runs (`runs`); this is what keeps two of one machine apart even where its rows are
wrong.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from typing import Final

from zkdash.history.places import location
from zkdash.history.places.location import Location
from zkdash.history.store import directories
from zkdash.pipeline.runs import BusyError, Run

RECORDER: Final = "recorder"
RUN: Final = "run"
LOAD: Final = "load"
_OWNERS: Final = {LOAD: "a stream", RECORDER: "a recorder"}


@contextlib.contextmanager
def holding(directory: Location, name: str) -> Iterator[None]:
    """Hold the lock of this name of a cluster's tables. Raises BusyError where another process holds it."""
    beside = location.local(directory)
    beside.mkdir(parents=True, exist_ok=True)
    with (beside / f"{name}.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = _OWNERS.get(name, "another run")
            raise BusyError(f"{owner} writes the tables of {directory.name}: wait for its end") from None
        yield


def is_held(directory: Location, name: str) -> bool:
    """Whether a process, which may be this one, holds the lock of this name."""
    try:
        with holding(directory, name):
            return False
    except BusyError:
        return True


def of(root: Location) -> Callable[[Run], bool]:
    """Tells of a run whether some process holds its lock; tables lie below `root`."""
    return lambda run: is_held(directories.directory(root, run.cluster), LOAD if run.job == "stream" else RUN)
