"""A pytest plugin that counts the rounds of `make faults` that passed, so that they are not done again."""

from __future__ import annotations

import pytest

from tests import full
from tests.faults import rounds


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if full.is_full() and report.when == "call" and report.passed:
        for part, tests in rounds.PARTS.items():
            if report.nodeid.partition("[")[0] in tests and part not in rounds.WHOLE:
                rounds.count(part)
