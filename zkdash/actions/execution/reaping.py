"""Once an hour, what nobody needs any more: dry runs of thirty days end, markers of actions that ended seven
days ago are deleted."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta

from zkdash.actions.execution import markers
from zkdash.actions.execution.failpoints import hit
from zkdash.actions.queue import expiry
from zkdash.zk.config import ClusterConfig
from zkdash.zk.reader.one_shot import OneShotError, OneShotReader
from zkdash.zk.writing import writer as writing
from zkdash.zk.writing.outcomes import UnreachedError
from zkdash.zk.writing.writer import Writer

_EVERY = timedelta(hours=1)
# Not at the start, when a process has better things to do.
_FIRST = timedelta(minutes=1)

log = logging.getLogger(__name__)


class Reaper:
    """One cluster's markers and dry runs."""

    def __init__(self, config: ClusterConfig) -> None:
        self._config = config
        self._next: datetime | None = None

    @property
    def cluster(self) -> str:
        return self._config.name

    def is_due(self, now: datetime) -> bool:
        """Whether an hour has passed, or the clock was set back; no database is asked."""
        if self._next is None or now < self._next - _EVERY:
            self._next = now + _FIRST
        return now >= self._next

    def turn(self, now: datetime) -> None:
        """Reap, where an hour has passed (or the clock was set back); what fails is tried in the next.

        Raises django.db.DatabaseError."""
        if not self.is_due(now):
            return
        self._next = now + _EVERY
        expiry.end(self._config.name, now)
        if not self._config.markers:
            return
        try:
            reap(self._config, now)
        except (OneShotError, UnreachedError) as error:
            log.info("Markers of %s are not deleted now: %s", self._config.name, error)


class Rota:
    """Whose turn it is to reap, of all clusters of a process.

    One each time that the worker looks: each opens a session for it, and hundreds at once would keep the
    mirrors' threads from the interpreter until their own sessions are lost.
    """

    def __init__(self, reapers: Iterable[Reaper]) -> None:
        self._reapers = deque(reapers)

    def next(self, now: datetime) -> Reaper | None:
        """The next one that is due. A busy one does not hold up the others: it is asked again after them."""
        for _ in range(len(self._reapers)):
            self._reapers.rotate(-1)
            if self._reapers[-1].is_due(now):
                return self._reapers[-1]
        return None


def reap(config: ClusterConfig, now: datetime) -> int:
    """Delete the markers that may go, and return how many. Raises OneShotError and UnreachedError."""
    with OneShotReader(config) as asker:
        names = [path.rpartition("/")[2] for path in asker.read(children=(writing.APPLIED,))]
    if going := markers.reapable(names, config.name, now):
        with Writer(config) as writer:
            writer.reap(f"{writing.APPLIED}/{name}" for name in going)
    hit("reaped")
    return len(going)
