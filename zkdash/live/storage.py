"""Whether zkdash's own database can be written: one thread finds out every few seconds, for all pages.

Knows no database itself: what probes it is an argument. Pages show the mirror, which needs none.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

INTERVAL_S = 3.0
# A database that has not answered for so long is said not to, though it refused nothing.
_LATE_S = 10.0
_SILENT = "it does not answer"

# Why it cannot be written now, "" where it can.
Prober = Callable[[], str]

_trouble = ""
_since: float | None = None  # since when it is being asked


def trouble() -> str:
    """Why the database cannot be written ("its disk is full"), "" where nothing is wrong with it."""
    since = _since
    return _SILENT if since is not None and time.monotonic() - since > _LATE_S else _trouble


class Poller:
    """The thread that asks. The database may hang or be away."""

    def __init__(self, prober: Prober) -> None:
        self._prober = prober
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="storage", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, limit_s: float = 5.0) -> None:
        """End the thread; one that waits for a database that hangs is left to end with the process."""
        self._over.set()
        self._thread.join(limit_s)
        _say("", None)

    def turn(self) -> None:
        """Ask once."""
        _say(_trouble, time.monotonic())
        try:
            found = self._prober()
        except Exception:
            log.exception("Probing the database failed")
            found = _trouble
        _say(found, None)

    def _run(self) -> None:
        while not self._over.is_set():
            self.turn()
            self._over.wait(INTERVAL_S)


def _say(found: str, since: float | None) -> None:
    global _trouble, _since
    _trouble, _since = found, since
