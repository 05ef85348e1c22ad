"""Points at which a process can be made to die, so that what is left behind can be looked at.

`ZKDASH_FAILPOINT=<name>[:<count>[:stop]]` kills the process with SIGKILL the `count`-th time it comes by the
point (the first without one), or stops it with SIGSTOP. Without the variable nothing ever happens.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Final, NamedTuple

VARIABLE = "ZKDASH_FAILPOINT"

# In the order in which an action comes by them.
NAMES: Final = (
    "claimed",  # the action is this worker's, nothing else was done
    "planned",  # a repeated action has its new plan
    "taken",  # the fence in ZooKeeper is taken
    "looked",  # after a crash: the marker was looked for, the answer not yet written down
    "compared",  # what the step touches was read and is as reviewed
    "intended",  # the intent is durable, nothing was sent
    "committed",  # ZooKeeper has answered, the answer is not yet written down
    "applied",  # the answer is written down
    "reached",  # the step's goal was seen, which is not yet written down
    "verified",  # that is written down
    "ending",  # everything is done, the end is not yet written down
    "ended",  # the end is written down
    "reaped",  # old markers are deleted
)


class _Armed(NamedTuple):
    name: str
    at: int
    signal: signal.Signals


def _armed(text: str) -> _Armed | None:
    """Raises ValueError for what names no failpoint."""
    if not text:
        return None
    name, _, rest = text.partition(":")
    count, _, how = rest.partition(":")
    if name not in NAMES or how not in {"", "stop"}:
        raise ValueError(f"{VARIABLE}={text} is none of {', '.join(NAMES)}[:count[:stop]]")
    return _Armed(name, int(count or 1), signal.SIGSTOP if how else signal.SIGKILL)


class _Points:
    def __init__(self, armed: _Armed | None) -> None:
        self._armed = armed
        self._seen = 0
        self._lock = threading.Lock()

    def hit(self, name: str) -> None:
        if self._armed is None or self._armed.name != name:
            return
        with self._lock:
            self._seen += 1
            if self._seen == self._armed.at:
                # To this thread: of a signal to the process another may learn first, and this one run on into
                # what comes after the point, such as a transaction whose lock would then stop with it.
                signal.pthread_kill(threading.get_ident(), self._armed.signal)


hit = _Points(_armed(os.environ.get(VARIABLE, ""))).hit
