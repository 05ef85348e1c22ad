"""What the end of a run tells of its tests: the seconds of each suite, and the slowest tests of all."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.running.jobs import NOTED
from tests.running.lanes import Done

_SLOWEST: Final = 10


def lines(done: Iterable[Done]) -> Iterator[str]:
    """A line for each suite of which a part was done, its tests counted, then one for each of the slowest."""
    parts = [one for one in done if NOTED in one.job.environ]
    noted = {one.job.name: _noted(Path(one.job.environ[NOTED])) for one in parts}
    for suite in dict.fromkeys(one.job.suite for one in parts):
        these = [one for one in parts if one.job.suite == suite]
        tests = sum(len(noted[one.job.name]) for one in these)
        yield f"{suite:<11} {sum(one.seconds for one in these):6.1f} s  {tests} tests"
    slowest = heapq.nlargest(
        _SLOWEST, ((took, test) for each in noted.values() for test, took in each.items())
    )
    if slowest:
        yield f"the slowest {len(slowest)} tests, each with what was started for it first:"
    yield from (f"{'':<11} {took:6.1f} s  {test}" for took, test in slowest)


def _noted(file: Path) -> dict[str, float]:
    """The seconds of each test that was run, none where a part ended before it could note any."""
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
