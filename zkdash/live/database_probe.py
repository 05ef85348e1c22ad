"""Whether zkdash's own database can be written: asked every few seconds, for all pages at once.

Knows no database itself: what probes it is an argument. Pages show the mirror, which needs none.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from zkdash.live.polled import Clock, Polled

INTERVAL_S = 3.0
# A database that has not answered for so long is said not to, though it refused nothing.
_LATE_S = 10.0
_SILENT = "it does not answer"
# There is one database for all clusters.
_ALL = ""

# Why it cannot be written now, "" where it can.
Prober = Callable[[], str]


class Writing(msgspec.Struct, frozen=True):
    """`trouble` is why the database cannot be written ("its disk is full"), "" where it can."""

    trouble: str = ""


class DatabaseProbe(Polled[Writing]):
    """Whether the database can be written; without a prober, nothing is wrong with it."""

    def __init__(self, prober: Prober | None = None, clock: Clock = time.monotonic) -> None:
        super().__init__(
            "Probing the database", Writing(), idle=prober is None, every_s=INTERVAL_S, clock=clock
        )
        self._prober = prober
        self._since: float | None = None  # since when it is being asked

    def trouble(self) -> str:
        """Why the database cannot be written, "" where nothing is wrong with it; also while it hangs."""
        since = self._since
        is_late = since is not None and self._clock() - since > _LATE_S
        return _SILENT if is_late else self.current(_ALL).trouble

    def turn(self) -> None:
        """Ask once; what was found before counts on where the question fails."""
        if self._prober is None:
            return
        self._since = self._clock()
        try:
            self._publish(_ALL, Writing(self._prober()))
        finally:
            self._since = None

    def _forget(self) -> None:
        super()._forget()
        self._since = None
