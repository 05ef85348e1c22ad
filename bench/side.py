"""One measured side: a fresh Python process that tells its figures as lines of JSON.

The parent's end is `Side`, the child's `say` and `hear`. Figures have a pipe of their own, and all that
a child prints goes to stderr: its JVM may print anything. A child ends when its stdin closes, so none
outlives the bench.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, Self, cast

_ROOT = Path(__file__).resolve().parent.parent
_END_LIMIT_S = 30.0
_PIPE = "BENCH_FIGURES"  # in a side's environment: the number of its end
_STDOUT, _STDERR = 1, 2

Figures = dict[str, Any]


class SideFailedError(RuntimeError):
    """A side ended, or was silent, before it told its figures."""


class Side:
    """`python -m bench.<module> <arguments>` as a context: killed at the end if it still runs."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._name = module
        self._command = [sys.executable, "-m", f"bench.{module}", *arguments]

    def __enter__(self) -> Self:
        figures, theirs = os.pipe()
        self._from = os.fdopen(figures, encoding="utf-8")
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=_STDERR,
                pass_fds=[theirs],
                env=os.environ | {_PIPE: str(theirs)},
                text=True,
                cwd=_ROOT,
            )
        finally:
            os.close(theirs)
        self._to = cast("IO[str]", self._process.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        self._to.close()
        try:
            self._process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._from.close()

    def heard(self, *, limit_s: float) -> Figures:
        """The next line that the side tells. Raises SideFailedError when none comes in time."""
        overdue = threading.Timer(limit_s, self._process.kill)
        overdue.start()
        line = self._from.readline()
        overdue.cancel()
        if not line:
            code = self._process.wait()
            raise SideFailedError(
                f"bench.{self._name} ended with {code} before it told its figures (limit {limit_s:g} s)"
            )
        told: Figures = json.loads(line)
        return told

    def tell(self, **words: Any) -> None:
        """Tell the side something; it waits in `hear`."""
        self._to.write(json.dumps(words) + "\n")
        self._to.flush()


def measured(module: str, *arguments: str, limit_s: float) -> Figures:
    """Run a side that tells one line of figures."""
    with Side(module, *arguments) as side:
        return side.heard(limit_s=limit_s)


def say(**figures: Any) -> None:
    """Tell the parent one line, or whoever started it by hand."""
    os.write(int(os.environ.get(_PIPE, _STDOUT)), f"{json.dumps(figures)}\n".encode())


def hear() -> Figures | None:
    """What the parent tells next, None when it is gone."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None
