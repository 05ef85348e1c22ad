"""Runs jobs side by side, each in the lane that is free first; what one prints is told whole, at its end.

The first that fails ends all, its output last. Nothing of a job outlives it, nor us: see `keeper`.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, NoReturn, cast

from tests.running import keeper
from tests.running.jobs import ROOT, Job

SIGN_OF_LIFE_S: Final = 60.0
_LOOK_S: Final = 0.05
_PROGRESS: Final = re.compile(rb"\[ *(\d+%)\]")
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Done:
    """A job that ended by itself: after how many seconds, what it printed, and whether that was well."""

    job: Job
    seconds: float
    printed: str
    is_well: bool


class _Running:
    """A job that was started; what it prints goes to the file."""

    def __init__(self, job: Job, file: Path) -> None:
        self.job: Final = job
        self._file = file
        self._began = time.monotonic()
        with file.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, *job.command],
                cwd=ROOT,
                env={**os.environ, **job.environ},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches us, and we decide
            )

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def told(self) -> str:
        """Its name, its seconds, and how far pytest says that it is: "kafka 312 s, 45%"."""
        progress = [one.decode() for one in _PROGRESS.findall(self._file.read_bytes())[-1:]]
        return ", ".join([f"{self.job.name} {self.seconds:.0f} s", *progress])

    def done(self) -> Done:
        self.tell_to_end()
        printed = self._file.read_text(encoding="utf-8", errors="replace")
        return Done(self.job, self.seconds, printed, self._process.returncode in self.job.well)

    def tell_to_end(self) -> None:
        """It hears that its input is closed; where it has ended, ours is let go."""
        cast("IO[bytes]", self._process.stdin).close()

    def wait(self) -> None:
        self._process.wait()


@dataclass
class Lanes:
    """So many of them, which take jobs in their order. `directory` keeps what these print until it is told.

    Where it `goes_on`, a failure ends nothing. `done` are the jobs that ended by themselves so far.
    """

    directory: Path
    count: int = 2
    goes_on: bool = False
    sign_of_life_s: float = SIGN_OF_LIFE_S
    done: list[Done] = field(default_factory=list)

    def run(self, jobs: Iterable[Job]) -> bool:
        """Run them; return whether all were well. Those that were not are told last.

        Raises KeyboardInterrupt by Ctrl-C, SIGTERM or SIGHUP, once all have ended.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        waiting = deque(jobs)
        running: list[_Running] = []
        told_at = time.monotonic()
        with _interrupted_by_signals():
            try:
                while waiting or running:
                    while waiting and len(running) < self.count:
                        job = waiting.popleft()
                        running.append(_Running(job, self.directory / f"{len(waiting)}.out"))
                    for one in [one for one in running if one.has_ended]:
                        running.remove(one)
                        self._take(one.done())
                    if self._failed and not self.goes_on:
                        break
                    if time.monotonic() - told_at > self.sign_of_life_s:
                        told_at = time.monotonic()
                        _write(f"running     {'; '.join(one.told for one in running)}\n")
                    time.sleep(_LOOK_S)
            finally:
                _end(running)
        for done in self._failed:
            _tell(done)
        return not self._failed

    @property
    def _failed(self) -> list[Done]:
        return [done for done in self.done if not done.is_well]

    def _take(self, done: Done) -> None:
        self.done.append(done)
        if done.is_well:
            _tell(done)


def _end(running: list[_Running]) -> None:
    """End what still runs, and wait for it; who cannot wait for that is not heard."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    for one in running:
        one.tell_to_end()
    for one in running:
        one.wait()
        _write(_line("ended", one.job, one.seconds))


def _tell(done: Done) -> None:
    if done.printed and (done.job.is_shown or not done.is_well):
        _write(done.printed.removesuffix("\n") + "\n")
    _write(_line(done.job.says(done.printed) if done.is_well else "FAILED", done.job, done.seconds))


def _line(what: str, job: Job, seconds: float) -> str:
    return f"{what:<11} {seconds:6.1f} s  {job.told or job.name}\n"


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextlib.contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """What ends us raises KeyboardInterrupt inside of the block."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
