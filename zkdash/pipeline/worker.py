"""The worker claims queued runs and starts each as a process of its own; it never holds a JVM itself.

One run at a time. What is scheduled is queued here too: a run of `all` for each cluster whose files are
named, when the last one was asked for long enough ago.
"""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from django.db import Error, connections
from django.utils import timezone

from zkdash import databases
from zkdash.pipeline import runs
from zkdash.pipeline.runs import Run, State
from zkdash.zk.config import ClusterConfig

PAUSE_S: Final = 1.0
STOP_LIMIT_S: Final = 5.0
SCHEDULE: Final = "schedule"

log = logging.getLogger(__name__)


class Worker:
    """`command` makes the command line of a run's process. `every_s` 0 schedules nothing; the first run
    is a minute after the start, or after `every_s`.
    """

    def __init__(
        self,
        clusters: Sequence[ClusterConfig],
        command: Callable[[Run], list[str]],
        *,
        every_s: float,
    ) -> None:
        self._clusters = [cluster.name for cluster in clusters]
        self._scheduled = [cluster.name for cluster in clusters if cluster.has_files and every_s > 0]
        self._command = command
        self._every = timedelta(seconds=every_s)
        self._first = timezone.now() + min(self._every, _SETTLED)
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
                self._over.wait(PAUSE_S)
            else:
                self._carry_out(run)

    def _next(self) -> Run | None:
        runs.reap()
        self._schedule()
        return runs.claim(self._clusters)

    def _schedule(self) -> None:
        now = timezone.now()
        for cluster in self._scheduled if now >= self._first else ():
            last = runs.last_asked(cluster, "all")
            if last is None or (last.queued_at <= now - self._every and last.state not in _PENDING):
                runs.queue(cluster, "all", SCHEDULE, now=now)

    def _carry_out(self, run: Run) -> None:
        log.info("Run %s: %s of %s, asked for by %s", run.id, run.job, run.cluster, run.by)
        # Its standard input ends with this process, however that ends: then it ends too.
        process = subprocess.Popen(self._command(run), stdin=subprocess.PIPE)  # noqa: S603 - our own command
        assert process.stdin is not None  # noqa: S101 - for the type
        with process.stdin:
            while process.poll() is None:
                if self._over.wait(0.1):
                    process.terminate()
                    _wait(process)
        if process.returncode:
            try:
                runs.finish(
                    run,
                    f"its process ended with code {process.returncode} without a word; the tables are whole",
                    failed=True,
                )
            except Error as error:  # it is found dead by whoever looks next
                log.warning("The end of run %s could not be told: %s", run.id, databases.line(error))
            finally:
                connections.close_all()


_SETTLED: Final = timedelta(minutes=1)
_PENDING: Final = (State.QUEUED, State.RUNNING)


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
