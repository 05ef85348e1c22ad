"""One measured side: a fresh Python process that tells its figures as lines of JSON.

The parent's end is `Side`. The child's end is `say` and `hear`; whatever else a child has to tell a
person goes to its stderr. A child ends when its stdin closes, so none outlives the bench.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, Self, cast

_ROOT = Path(__file__).resolve().parent.parent
_END_LIMIT_S = 30.0

Figures = dict[str, Any]


class SideFailedError(RuntimeError):
    """A side ended, or was silent, before it told its figures."""


class Side:
    """`python -m bench.<module> <arguments>` as a context: killed at the end if it still runs."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._name = module
        self._command = [sys.executable, "-m", f"bench.{module}", *arguments]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT
        )
        self._to = cast("IO[str]", self._process.stdin)
        self._from = cast("IO[str]", self._process.stdout)
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
    """Tell the parent one line."""
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


def hear() -> Figures | None:
    """What the parent tells next, None when it is gone."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None
