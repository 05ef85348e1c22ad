"""A pytest plugin that writes the seconds of each test, with its fixtures', to the file that NOTED names.

`{"tests/zk/mirror/test_mirror.py::test_…": 1.25}`; what was not run is not in it.
It also holds tests to their suites: one with a marker that its module does not name would be in none, and one
that asks for what it is not marked with would start that for itself, in the process of another suite.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

from tests.running import suites
from tests.running.jobs import NOTED, ROOT

_seconds: Final[defaultdict[str, float]] = defaultdict(float)


@pytest.hookimpl(tryfirst=True)  # before those of other suites are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        marked = {mark.name for mark in item.iter_markers()}
        fixtures: list[str] = getattr(item, "fixturenames", [])
        needed = suites.slowest([*marked, *(suites.STARTED.get(name, "") for name in fixtures)])
        if needed != suites.slowest(marked):
            raise pytest.UsageError(
                f"{item.nodeid}: mark it pytest.mark.{needed}, by what its fixtures start"
            )
        module = item.path.relative_to(ROOT).as_posix()
        if unnamed := marked.intersection(suites.NEEDS) - suites.needs(module):
            wanted = ", ".join(f"pytest.mark.{need}" for need in sorted(unnamed))
            raise pytest.UsageError(
                f"{item.nodeid}: name {wanted} in {module}, by which suites find their tests"
            )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish() -> None:
    if file := os.environ.get(NOTED):
        Path(file).write_text(json.dumps(_seconds), encoding="utf-8")
