"""Rights as last read from the database: they count for a while when it does not answer.

How long is `rights_s` of `[limits]`: a right that was lost that long ago is lost, whatever the database does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from django.conf import settings

from zkdash import databases
from zkdash.access.rights import Rights

log = logging.getLogger(__name__)

# A database that failed is asked again after so long, by one thread.
AGAIN_S: Final = 2.0
_MOST: Final = 20_000


class Memory:
    """Rights by holder, of those that were asked for last. From any thread."""

    def __init__(
        self,
        kept_s: Callable[[], float] = lambda: settings.ZKDASH_LIMITS.rights_s,
        *,
        clock: Callable[[], float] = time.monotonic,
        most: int = _MOST,
    ) -> None:
        self._kept_s, self._clock, self._most = kept_s, clock, most
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Rights, float]] = OrderedDict()
        self._again: float | None = None  # when to ask next; None while the database answers

    def keep(self, holder: str, rights: Rights) -> None:
        with self._lock:
            self._kept[holder] = rights, self._clock()
            self._kept.move_to_end(holder)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def forget(self, holder: str) -> None:
        with self._lock:
            self._kept.pop(holder, None)

    def recall(self, holder: str) -> Rights | None:
        """What was kept of a holder, None where that is too long ago."""
        with self._lock:
            rights, at = self._kept.get(holder, (None, 0.0))
            return rights if rights is not None and self._clock() - at <= self._kept_s() else None

    def may_ask(self) -> bool:
        """Whether to ask the database now, and not just to recall."""
        with self._lock:
            if self._again is None:
                return True
            if self._clock() < self._again:
                return False
            self._again = self._clock() + AGAIN_S
            return True

    def failed(self, error: Exception) -> None:
        """The database was asked and did not tell."""
        with self._lock:
            is_news, self._again = self._again is None, self._clock() + AGAIN_S
        if is_news:
            log.warning(
                "Who may what cannot be read, so that what was read in the last %g s counts: %s",
                self._kept_s(),
                databases.line(error),
            )

    def answered(self) -> None:
        """The database has told."""
        if self._again is None:
            return
        with self._lock:
            is_news, self._again = self._again is not None, None
        if is_news:
            log.info("Who may what is read from the database again")


MEMORY: Final = Memory()
