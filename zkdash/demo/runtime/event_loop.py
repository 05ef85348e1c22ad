"""The one thread on which the whole simulated cluster acts: what is due by the clock, and what watches bring.

Every broker, controller and consumer runs its steps here one after the other, so that none of them needs a
lock and a seed gives the same story each time. Watch callbacks of ZooKeeper only put a step in the queue.
"""

from __future__ import annotations

import collections
import concurrent.futures
import heapq
import itertools
import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from zkdash.demo.runtime import clock

log = logging.getLogger(__name__)

T = TypeVar("T")
Step = Callable[[], object]


class Timer:
    """A step that is due later, until it is cancelled."""

    def __init__(self, step: Step) -> None:
        self._step: Step | None = step

    def cancel(self) -> None:
        self._step = None

    def __call__(self) -> None:
        if self._step is not None:
            self._step()


class Agenda:
    """Steps in order. `failures` keeps what steps raised (also logged): a step's error ends only the step.

    `after_step` is called on the agenda's thread after every step; whoever waits for the story to reach
    some point looks again then.
    """

    def __init__(self, time: clock.Clock, *, after_step: Callable[[], None] = lambda: None) -> None:
        self.failures: list[Exception] = []
        self._time = time
        self._after_step = after_step
        self._ready: collections.deque[Step] = collections.deque()
        self._later: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._wake = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="demo-agenda", daemon=True)
        time.on_advance(self._nudge)

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the step that runs now; what is still in the queue is dropped."""
        self.finish()
        self._thread.join()

    def finish(self) -> None:
        """Make the step that runs now the last one."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()

    def now(self) -> float:
        """Seconds by the clock, monotonic."""
        return self._time.now()

    def post(self, step: Step) -> None:
        """Run `step` as soon as it is its turn; from any thread."""
        with self._wake:
            self._ready.append(step)
            self._wake.notify_all()

    def after(self, seconds: float, step: Step) -> Timer:
        """Run `step` in `seconds` of the clock; from any thread."""
        timer = Timer(step)
        with self._wake:
            heapq.heappush(self._later, (self._time.now() + seconds, next(self._order), timer))
            self._wake.notify_all()
        return timer

    def call(self, step: Callable[[], T], *, limit: float = 30.0) -> T:
        """Run `step` in its turn and wait, at most `limit` real seconds, for its answer or its error."""
        if threading.current_thread() is self._thread:
            return step()
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()

        def told() -> None:
            try:
                answer.set_result(step())
            except Exception as error:
                answer.set_exception(error)

        self.post(told)
        return answer.result(limit)

    def _nudge(self) -> None:
        with self._wake:
            self._wake.notify_all()

    def _run(self) -> None:
        while (step := self._next()) is not None:
            try:
                step()
            except Exception as error:
                self.failures.append(error)
                log.warning("A step of the simulated cluster failed: %r", error, exc_info=error)
            self._after_step()

    def _next(self) -> Step | None:
        """The next step, waiting for one; None when the agenda stops.

        What is due goes first, so that after `advance` whoever gets a turn finds all of it done.
        """
        with self._wake:
            while not self._stopping:
                wait = self._later[0][0] - self._time.now() if self._later else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._later)[2]
                if self._ready:
                    return self._ready.popleft()
                self._wake.wait(None if wait is None else self._time.patience(wait))
            return None
