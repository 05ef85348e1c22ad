"""The one thread on which the whole simulated cluster acts: what is due by the clock, and what watches bring.

Every broker, controller and consumer runs its tasks here one after the other, so that none of them needs a
lock and the same seed makes the same things happen. Watch callbacks of ZooKeeper only queue a task.
"""

from __future__ import annotations

import collections
import concurrent.futures
import heapq
import itertools
import logging
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, SessionExpiredError

from zkdash.demo.runtime import clock

log = logging.getLogger(__name__)

# Where ZooKeeper is gone every task fails, and the line of code where it did tells nothing.
_CUT_OFF: Final = (ConnectionLoss, SessionExpiredError, ConnectionClosedError)

T = TypeVar("T")
Task = Callable[[], object]


class TimerHandle:
    """A task that is due later, unless it is cancelled."""

    def __init__(self, task: Task) -> None:
        self._task: Task | None = task

    def cancel(self) -> None:
        self._task = None

    def __call__(self) -> None:
        if self._task is not None:
            self._task()


class EventLoop:
    """Runs tasks in order. `failures` keeps what they raised (also logged): an error ends only its task.

    `after_task` is called on the loop's thread after every task, for whoever waits for something to happen.
    """

    def __init__(self, time: clock.Clock, *, after_task: Callable[[], None] = lambda: None) -> None:
        self.failures: list[Exception] = []
        self._time = time
        self._after_task = after_task
        self._ready: collections.deque[Task] = collections.deque()
        self._later: list[tuple[float, int, TimerHandle]] = []
        self._order = itertools.count()
        self._wake = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run_tasks, name="demo-event-loop", daemon=True)
        time.on_advance(self._wake_up)

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the task that runs now; what is still in the queue is dropped."""
        self.finish()
        self._thread.join()

    def finish(self) -> None:
        """Make the task that runs now the last one."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()

    def now(self) -> float:
        """Seconds by the clock, monotonic."""
        return self._time.now()

    def call_soon(self, task: Task) -> None:
        """Run `task` as soon as it is its turn; from any thread."""
        with self._wake:
            self._ready.append(task)
            self._wake.notify_all()

    def call_later(self, seconds: float, task: Task) -> TimerHandle:
        """Run `task` in `seconds` of the clock; from any thread."""
        timer = TimerHandle(task)
        with self._wake:
            heapq.heappush(self._later, (self._time.now() + seconds, next(self._order), timer))
            self._wake.notify_all()
        return timer

    def run(self, task: Callable[[], T], *, limit: float = 30.0) -> T:
        """Run `task` in its turn and wait, at most `limit` real seconds, for its answer or its error."""
        if threading.current_thread() is self._thread:
            return task()
        future: concurrent.futures.Future[T] = concurrent.futures.Future()

        def complete() -> None:
            try:
                future.set_result(task())
            except Exception as error:
                future.set_exception(error)

        self.call_soon(complete)
        return future.result(limit)

    def _wake_up(self) -> None:
        with self._wake:
            self._wake.notify_all()

    def _run_tasks(self) -> None:
        while (task := self._next()) is not None:
            try:
                task()
            except Exception as error:
                self.failures.append(error)
                log.warning(
                    "A task of the simulated cluster failed: %r",
                    error,
                    exc_info=None if isinstance(error, _CUT_OFF) else error,
                )
            self._after_task()

    def _next(self) -> Task | None:
        """The next task, waiting for one; None when the loop stops.

        What is due goes first, so that after `advance` whoever gets a turn finds all of it done.
        """
        with self._wake:
            while not self._stopping:
                wait = self._later[0][0] - self._time.now() if self._later else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._later)[2]
                if self._ready:
                    return self._ready.popleft()
                self._wake.wait(None if wait is None else self._time.real_wait(wait))
            return None
