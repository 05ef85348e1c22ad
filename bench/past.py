"""What the past costs, and what it costs the present: moments of a recorded history, beside pages of now.

A real `serve` is asked for pages as they were; what waits is a client of its own. A first moment is held
against the first load of the same process, of several processes one after the other (`bench/rounds.py`), and
pages of now while a moment is read against those asked for while its reader is stopped, in turns: cores are
not as fast all the time. In a third turn an endless loop runs in the reader's place: what that costs is the
machine's, which has two cores for who asks, who answers and who reads.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Final

from bench import history, progress, rounds, served, serving, side, tree
from bench.history import History
from bench.result import Goal, Kept, Number, Result
from bench.sizes import Size
from tests import processes
from tests.serving import Served

_FIRST_TO_LOAD: Final = 1.5
_TOPIC_MS: Final = 300.0
_STEP_MS: Final = 100.0
_DIFFERENCE_S: Final = 2.0
_LIVE: Final = 1.1
_TIMES: Final = 20
_PROCESSES: Final = 5
_TENTHS: Final = (1, 2, 3, 4)  # of a history, from one moment to another that shares nothing with it
# Pages of now in a turn.
_READING, _OTHERS = 20, 7
_HOME: Final = "/c/default/"
_PHASE: Final = re.compile(
    r"^(\S+Z) INFO zkdash\.zk\.mirror\.mirror: default: (loading|live)\.", re.MULTILINE
)


def run(size: Size) -> Result:
    """Write the history, serve the cluster beside it, and ask."""
    with (
        tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory,
        served.server(size.whole, heap_mb=size.heap_mb) as server,
    ):
        with progress.step(f"past: a history of {size.changes} changes"):
            written = history.write(Path(directory, "default"), size.whole, size.changes, size.days)
        with progress.step("past: first loads and first moments"):
            loads, moments = zip(
                *(_firsts(server.address, Path(directory), written, size) for _ in range(_PROCESSES)),
                strict=True,
            )
        with (
            progress.step("past: moments of it"),
            serving.serving(server.address, size.whole.topics, history=Path(directory)) as process,
        ):
            figures = _figures(process, written, size)
    figures |= {"load": min(loads), "first": min(moments), "first to load": rounds.ratio(moments, loads)}
    sides = {
        "the past": {
            "first moment, s": figures["first"],
            "the same page again, ms": figures["again"],
            "topic, ms": figures["topic"],
            "step, ms": figures["step"],
            "difference of two days, moments to be read, s": figures["difference, first"],
            "difference of two days, s": figures["difference"],
        },
        "the present": {
            "first load, s": figures["load"],
            "p99 while a moment is read, ms": figures["reading"],
            "p99 while that is stopped, ms": figures["stopped"],
            "p99 beside an endless loop, ms": figures["looping"],
        },
    }
    return Result("past", size.name, sides, _goals(figures))


def _goals(figures: dict[str, Number]) -> tuple[Goal, ...]:
    return (
        Goal("first moment to first load", figures["first to load"], _FIRST_TO_LOAD),
        Goal("topic of the past, ms", figures["topic"], _TOPIC_MS, is_of_core=True),
        Goal("step, ms", figures["step"], _STEP_MS, is_of_core=True),
        Goal("difference of two days, s", figures["difference"], _DIFFERENCE_S, is_of_core=True),
        Goal(
            "live p99 while a moment is read, to that stopped",
            figures["reading"] / figures["stopped"],
            _LIVE,
            kept=Kept(2.0, 24),
        ),
        Goal(
            "live p99 while a moment is read, to that beside an endless loop",
            figures["reading"] / figures["looping"],
            _LIVE,
            kept=Kept(1.25, 24),
        ),
    )


def _firsts(zookeeper: str, history: Path, written: History, size: Size) -> tuple[float, float]:
    """The seconds of a first load, and of a first moment."""
    with serving.serving(zookeeper, size.whole.topics, history=history) as process:
        # so that the process which tells it is there: what it takes to start is told by the row `start`
        process.get(f"{_HOME}?at=zxid:{written.last + 1_000_000}")
        return _load_s(process), _seconds(process, f"{_HOME}?at=zxid:{_half(written)}")


def _half(written: History) -> int:
    return (written.first + written.last) // 2


def _figures(process: Served, written: History, size: Size) -> dict[str, Number]:
    """All other figures."""
    half = _half(written)
    a_day = (written.last - written.first) // size.days
    _seconds(process, f"{_HOME}?at=zxid:{half}")
    again = _median(process, [f"{_HOME}?at=zxid:{half}"] * _TIMES)
    topic = f"{_HOME}topics/{tree.topic_name(0)}/"
    topics = _median(process, [f"{topic}?at=zxid:{half}"] * _TIMES)
    steps = _median(process, [f"{topic}?at=zxid:{half + number}" for number in range(1, _TIMES + 1)])
    two_days = f"{_HOME}differences/?from=zxid:{half - 2 * a_day}&at=zxid:{half}"
    difference_first = _seconds(process, two_days)
    difference = _seconds(process, two_days)
    apart = [f"{_HOME}?at=zxid:{half + tenth * (written.last - written.first) // 10}" for tenth in _TENTHS]
    reading, stopped, looping = map(_p99_ms, zip(*(_beside(process, path) for path in apart), strict=True))
    return {
        "again": again,
        "topic": topics,
        "step": steps,
        "difference, first": difference_first,
        "difference": difference,
        "reading": reading,
        "stopped": stopped,
        "looping": looping,
    }


def _load_s(process: Served) -> float:
    """From the line that says that the cluster is loading to that which says that it is live."""
    phases = {
        phase: datetime.fromisoformat(when) for when, phase in reversed(_PHASE.findall(process.printed()))
    }
    if len(phases) < 2:
        raise side.SideFailedError(f"serve does not say how long its load took:\n{process.printed()}")
    return (phases["live"] - phases["loading"]).total_seconds()


def _seconds(process: Served, path: str) -> float:
    began = time.perf_counter()
    answer = process.get(path, Accept="application/json")
    if answer.status != 200:
        raise side.SideFailedError(f"{path} answered {answer.status}: {answer.text[:300]}")
    return time.perf_counter() - began


def _median(process: Served, paths: list[str]) -> float:
    """The median of what pages take, ms."""
    return statistics.median(_seconds(process, path) for path in paths) * 1000


def _beside(process: Served, path: str) -> tuple[list[float], list[float], list[float]]:
    """What the Topics page of now takes, s, again and again while a moment is read that shares nothing with
    those before: while that goes on, while its reader is stopped, and beside a loop in the reader's place."""
    (reader,) = processes.children(process.pid)
    reading: list[float] = []
    stopped: list[float] = []
    looping: list[float] = []
    with ThreadPoolExecutor(1) as beside, _stopped_loop(like=reader) as loop:
        moment = beside.submit(_seconds, process, path)
        while not moment.done():
            reading += _pages_s(process, _READING)
            os.kill(reader, signal.SIGSTOP)
            try:
                stopped += _pages_s(process, _OTHERS)
                os.kill(loop, signal.SIGCONT)
                looping += _pages_s(process, _OTHERS)
                os.kill(loop, signal.SIGSTOP)
            finally:
                os.kill(reader, signal.SIGCONT)
    moment.result()  # or what it failed of
    return reading, stopped, looping


@contextlib.contextmanager
def _stopped_loop(*, like: int) -> Iterator[int]:
    """An endless loop that stands back for others as that process does; it is yet to be let go on."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as loop:
        try:
            os.kill(loop.pid, signal.SIGSTOP)
            os.setpriority(os.PRIO_PROCESS, loop.pid, os.getpriority(os.PRIO_PROCESS, like))
            os.sched_setscheduler(loop.pid, os.sched_getscheduler(like), os.sched_param(0))
            yield loop.pid
        finally:
            loop.kill()


def _pages_s(process: Served, count: int) -> list[float]:
    return [_seconds(process, f"{_HOME}topics/") for _ in range(count)]


def _p99_ms(times: Iterable[list[float]]) -> float:
    """Of all moments together."""
    return statistics.quantiles(itertools.chain.from_iterable(times), n=100)[98] * 1000
