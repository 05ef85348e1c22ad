"""A process asks for as many open files as its clusters need beside what comes in."""

from __future__ import annotations

import resource

import pytest

from zkdash.configuration.limits import Limits
from zkdash.management import serving


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the kernel is asked for, of 10 000 files at most."""
    asked: list[int] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 10_000))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits[0]))
    return asked


def test_each_cluster_has_files_of_its_own(asked: list[int]) -> None:
    limits = Limits()
    assert serving._affordable(limits, 1) == limits
    assert serving._affordable(limits, 201) == limits
    assert asked[1] - asked[0] == 200 * serving._FILES_A_CLUSTER
    assert asked[0] > limits.files


def test_where_there_are_not_enough_fewer_connections_are_taken(asked: list[int]) -> None:
    limits = Limits()
    few = serving._affordable(limits, 700)
    assert asked == [10_000]
    assert few.connections < limits.connections
    assert few.files + 700 * serving._FILES_A_CLUSTER <= 10_000
