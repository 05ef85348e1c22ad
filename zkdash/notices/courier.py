"""The courier sends what waits in the outbox: one thread in each `serve` and `execute`.

Addresses do not wait for each other longer than one attempt lasts: the first failure of an address ends its
turn.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import Error, connections
from django.utils import timezone

from zkdash import databases
from zkdash.notices import outbox, targets
from zkdash.notices.models import Delivery

_POLL_S = 1.0
_FAILED_S = 5.0
# An attempt has a time limit of its own; one that is cut off is made again.
_STOP_LIMIT_S = 10.0
_FORGET_EVERY = timedelta(hours=1)

log = logging.getLogger(__name__)


class Courier:
    """Sends what is due until it is told to leave. `start` once, `stop` once; `clock` gives UTC."""

    def __init__(self, *, poll_s: float = _POLL_S, clock: Callable[[], datetime] = timezone.now) -> None:
        self._leaving = threading.Event()
        self._poll_s, self._clock = poll_s, clock
        self._forgotten: datetime | None = None
        self._complained = ""
        self._thread = threading.Thread(target=self._run, name="courier", daemon=True)

    def start(self) -> None:
        """Begin, where any cluster has somebody who is told of it; returns at once."""
        if any(targets.names(cluster.name) for cluster in settings.ZKDASH_CLUSTERS):
            self._thread.start()

    def leave(self) -> None:
        """Begin nothing more; returns at once."""
        self._leaving.set()

    def stop(self, limit_s: float = _STOP_LIMIT_S) -> bool:
        """Let the attempt under way end; whether it did within the limit. What waits stays in the outbox."""
        self.leave()
        if self._thread.is_alive():
            self._thread.join(limit_s)
        return not self._thread.is_alive()

    def turn(self) -> bool:
        """Try what is due; whether anything was taken. Raises django.db.DatabaseError."""
        now = self._clock()
        if self._forgotten is None or not now - _FORGET_EVERY <= self._forgotten <= now:
            self._forgotten = now
            outbox.forget(now)
        taken = [
            self._visit(cluster, target)
            for cluster, target in outbox.targets_due(now)
            if cluster not in settings.ZKDASH_ELSEWHERE
        ]
        return any(taken)

    def _visit(self, cluster: str, name: str) -> bool:
        """Send to one address what is due, up to the first that it does not take."""
        any_taken = False
        for delivery in outbox.due(cluster, name, self._clock()):
            if self._leaving.is_set() or not outbox.claim(delivery, self._clock()):
                break
            trouble = self._try(delivery)
            if trouble:
                if not outbox.refused(delivery, trouble, self._clock()):
                    log.warning("%s is given up: %s", delivery, trouble)
                elif delivery.attempts == 1:
                    log.warning("%s, and tried again later: %s", delivery, trouble)
                break
            outbox.taken(delivery, self._clock())
            any_taken = True
        return any_taken

    def _try(self, delivery: Delivery) -> str:
        target = targets.find(delivery.cluster, delivery.target)
        if target is None:
            return "the configuration does not have this address any more"
        try:
            return target.send(delivery)
        except Exception as error:
            log.exception("Sending %s failed", delivery)
            return f"zkdash failed: {type(error).__name__}"

    def _run(self) -> None:
        pause = 0.0
        while not self._leaving.wait(pause):
            try:
                pause = 0.0 if self.turn() else self._poll_s
                self._complained = ""
            except Error as error:
                self._complain(databases.line(error))
                pause = _FAILED_S
            except Exception:
                log.exception("The courier failed; it goes on with what it finds")
                pause = _FAILED_S
            finally:
                connections.close_all()

    def _complain(self, trouble: str) -> None:
        """Once for a failure that lasts."""
        if trouble != self._complained:
            log.warning("Nobody is told of anything, as the database fails: %s", trouble)
            self._complained = trouble
