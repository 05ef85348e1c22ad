"""Whose rendering is next: holders in rotation, however many pages each looks at.

Each holder may use a share of the processor for its pages. Who stays within it is rendered for on one
thread; who does not, on another, which gives way to requests and to the first. What nobody waits for any
more is not begun, and ends where it has begun. On the event loop only.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from zkdash.door.turns import WORK
from zkdash.live.sockets.pace import Work
from zkdash.live.traffic import TRAFFIC

T = TypeVar("T")

# How long who renders rests while others wait, as a multiple of how long it worked.
REST: Final = 1.0
LATE_REST: Final = 4.0
# Seconds of CPU a second that a holder may use, and how far ahead of that it may be.
SHARE: Final = 0.25
AHEAD_S: Final = 0.5
# No holder is held back for what it used longer ago than it takes to earn this.
_MOST_OWED_S: Final = 1.0


class _Job:
    """One rendering that somebody waits for."""

    __slots__ = ("answer", "holder", "work")

    def __init__(self, holder: str, do: Callable[[], Any], answer: asyncio.Future[Any]) -> None:
        self.holder, self.work, self.answer = holder, Work(do), answer


class _Owed(NamedTuple):
    """What a holder had used at a time of the loop's, less its share since."""

    cpu_s: float
    at: float


class _Lane:
    """One thread; `late` for those who are beyond their share."""

    def __init__(self, name: str, *, late: bool) -> None:
        self.threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self.late = late
        self.job: _Job | None = None


class Renders:
    """The renderings of one process."""

    def __init__(self) -> None:
        self._lanes = (_Lane("render", late=False), _Lane("render-late", late=True))
        # In the order of rotation; a holder is in it as long as it waits.
        self._waiting: dict[str, deque[_Job]] = {}
        self._owed: dict[str, _Owed] = {}

    @property
    def waiting(self) -> int:
        """How many have not begun."""
        return sum(map(len, self._waiting.values()))

    async def run(self, holders: Collection[str], do: Callable[[], T]) -> T:
        """Have something rendered, on the account of the holder that owes least; not done once cancelled."""
        holder = min(holders, key=self._owes, default="")
        job = _Job(holder, do, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(holder, deque()).append(job)
        self._begin()
        try:
            value: T = await job.answer
        except asyncio.CancelledError:
            self._abandon(job)
            raise
        return value

    def forget(self) -> None:
        """Forget what holders used long ago."""
        for holder in [holder for holder in self._owed if not self._owes(holder)]:
            del self._owed[holder]

    def close(self) -> None:
        """Begin nothing more, and end what has begun."""
        self._waiting.clear()
        for lane in self._lanes:
            if lane.job is not None:
                lane.job.work.abandon()
            lane.threads.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> None:
        """Begin the next on each thread that is free."""
        for lane in self._lanes:
            job = self._next(late=lane.late) if lane.job is None else None
            if job is not None:
                lane.job = job
                rest = self._late_rest if lane.late else _rest
                doing = asyncio.get_running_loop().run_in_executor(lane.threads, job.work.run, rest)
                doing.add_done_callback(partial(self._done, lane, job))

    def _next(self, *, late: bool) -> _Job | None:
        """The oldest of the first in the rotation that is, or is not, beyond its share."""
        for holder, jobs in self._waiting.items():
            if (self._owes(holder) > AHEAD_S) is late:
                job = jobs.popleft()
                del self._waiting[holder]
                if jobs:
                    self._waiting[holder] = jobs
                return job
        return None

    def _done(self, lane: _Lane, job: _Job, doing: asyncio.Future[Any]) -> None:
        lane.job = None
        TRAFFIC.renders += 1
        TRAFFIC.render_s += job.work.cpu_s
        owed = min(self._owes(job.holder) + job.work.cpu_s, _MOST_OWED_S)
        self._owed[job.holder] = _Owed(owed, _now())
        if not doing.cancelled():
            fault = doing.exception()
            if job.answer.done():
                pass  # whoever waited has left
            elif fault is not None:
                job.answer.set_exception(fault)
            else:
                job.answer.set_result(doing.result())
        self._begin()

    def _abandon(self, job: _Job) -> None:
        job.work.abandon()
        jobs = self._waiting.get(job.holder)
        if jobs is not None and job in jobs:
            jobs.remove(job)
            if not jobs:
                del self._waiting[job.holder]

    def _owes(self, holder: str) -> float:
        owed = self._owed.get(holder)
        return 0.0 if owed is None else max(0.0, owed.cpu_s - SHARE * (_now() - owed.at))

    def _late_rest(self) -> float:
        return LATE_REST if WORK.is_busy or self._lanes[0].job is not None else 0.0


def _rest() -> float:
    """Asked on the thread that renders."""
    return REST if WORK.is_busy else 0.0


def _now() -> float:
    return asyncio.get_running_loop().time()
