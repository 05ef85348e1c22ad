"""The worker claims queued runs and has a process of its own carry them out; it never holds a JVM itself.

One run at a time. What is scheduled is queued here too: a run of `all` for each cluster whose files are
named, when the last one was asked for long enough ago and there is anything new.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import Error, connections
from django.utils import timezone

from zkdash import databases
from zkdash.history.places.location import Location
from zkdash.history.store import directories
from zkdash.history.store.delta import TableError
from zkdash.pipeline import locks, runs
from zkdash.pipeline.performer import Performer
from zkdash.pipeline.runs import Run, State
from zkdash.zk.config import ClusterConfig

PAUSE_S: Final = 1.0
SCHEDULE: Final = "schedule"

log = logging.getLogger(__name__)


class Worker:
    """Has runs over tables below `root` carried out by `performer`. `every_s` 0 schedules nothing; the first
    run is a minute after the start, or after twice `every_s`.
    """

    def __init__(
        self, clusters: Sequence[ClusterConfig], performer: Performer, *, root: Location, every_s: float
    ) -> None:
        self._clusters = [cluster.name for cluster in clusters]
        self._scheduled = [cluster for cluster in clusters if cluster.has_files and every_s > 0]
        self._performer = performer
        self._root = root
        self._every = timedelta(seconds=every_s)
        first = timezone.now() + min(2 * self._every, _SETTLED)
        self._due = {cluster.name: first for cluster in self._scheduled}
        self._over = threading.Event()

    def stop(self) -> None:
        """Claim nothing more; a run under way is ended. From any thread."""
        self._over.set()

    def work(self) -> None:
        """Until `stop`."""
        complained = ""
        while not self._over.is_set():
            try:
                run = self._next()
            except Error as error:
                why = databases.line(error)
                if why != complained:
                    log.warning("The queue of runs cannot be read: %s", why)
                complained, run = why, None
            else:
                complained = ""
            finally:
                connections.close_all()
            if run is None:
                self._performer.rest()
                self._over.wait(PAUSE_S)
            else:
                self._carry_out(run)
        self._performer.stop()

    def _next(self) -> Run | None:
        runs.reap(is_held=locks.of(self._root))
        for cluster in self._scheduled:
            self._schedule(cluster, timezone.now())
        return runs.claim(self._clusters)

    def _schedule(self, cluster: ClusterConfig, now: datetime) -> None:
        """Queue a run where one is due; where nothing is new, none is before the next look."""
        if now < self._due[cluster.name]:
            return
        last = runs.last_asked(cluster.name, "all")
        if last is not None and (last.state in _PENDING or now < self._due_after(last)):
            return
        self._due[cluster.name] = now + self._every
        if self._is_news(cluster, now):
            runs.queue(cluster.name, "all", SCHEDULE, now=now)
            runs.forget(cluster.name)

    def _due_after(self, last: Run) -> datetime:
        """Runs are under way for at most a quarter of the time, however long they take."""
        took = last.ended_at - last.started_at if last.ended_at and last.started_at else timedelta()
        return max(last.queued_at + self._every, (last.ended_at or last.queued_at) + _RESTS * took)

    def _is_news(self, cluster: ClusterConfig, now: datetime) -> bool:
        """Once a day there is something to do whatever is new: what is too old is deleted."""
        from zkdash.pipeline import news  # noqa: PLC0415 - Arrow, which who works on nothing does without

        last = runs.last_done(cluster.name, "all")
        seen = None if last is None else news.of(last.metrics)
        if last is None or seen is None or last.queued_at.date() != now.date():
            return True
        try:
            loads = not runs.is_streaming(cluster.name)
            return news.is_new(seen, cluster, directories.directory(self._root, cluster.name), loads=loads)
        except (OSError, TableError):  # the run says what is wrong
            return True

    def _carry_out(self, run: Run) -> None:
        log.info("Run %s: %s of %s, asked for by %s", run.id, run.job, run.cluster, run.by)
        code = self._performer.carry_out(run.id, self._over, _Telling(run))
        if code is not None:
            try:
                runs.finish(
                    run,
                    f"its process ended with code {code} without a word; the tables are whole",
                    failed=True,
                )
            except Error as error:  # it is found dead by whoever looks next
                log.warning("The end of run %s could not be told: %s", run.id, databases.line(error))
            finally:
                connections.close_all()


class _Telling:
    """Tells now and then that a run is alive whose process is yet to begin."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._told = time.monotonic()

    def __call__(self) -> None:
        if time.monotonic() - self._told < runs.TOLD_S:
            return
        self._told = time.monotonic()
        try:
            runs.tell(self._run)
        except Error as error:
            log.warning("Run %s could not be told of: %s", self._run.id, databases.line(error))
        finally:
            connections.close_all()


_SETTLED: Final = timedelta(minutes=1)
_RESTS: Final = 3  # times as long as it took
_PENDING: Final = (State.QUEUED, State.RUNNING)
